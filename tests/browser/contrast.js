// Return the texts of the page whose contrast with their background is below WCAG 2, level AA.
() => {
  const channels = (color) => {
    const [r, g, b, a = 1] = color.match(/[\d.]+/g).map(Number);
    return [r, g, b, a];
  };
  const over = (top, below) => top.slice(0, 3).map((c, i) => c * top[3] + below[i] * (1 - top[3]));
  const ground = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement)
      layers.push(channels(getComputedStyle(one).backgroundColor));
    const canvas = matchMedia("(prefers-color-scheme: dark)").matches ? 0 : 255;
    return layers.reduceRight((below, top) => over(top, below), [canvas, canvas, canvas]);
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((c) => {
      const part = c / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const low = new Map();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    const style = getComputedStyle(element);
    const seen = element.getClientRects().length && style.visibility === "visible";
    if (!texts.currentNode.data.trim() || !seen) continue;
    const below = ground(element);
    const letters = over(channels(style.color), below);
    const [darker, lighter] = [luminance(letters), luminance(below)].sort((a, b) => a - b);
    const ratio = (lighter + 0.05) / (darker + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const name = `${element.tagName.toLowerCase()}.${element.className} ${style.color}`;
    if (ratio < (large ? 3 : 4.5)) low.set(name, `${name}: ${ratio.toFixed(2)}`);
  }
  return [...low.values()];
}
