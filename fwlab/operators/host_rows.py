"""Hold X in the memory of the host, or in a file, and work on its rows on another device.

While the device works on a part, the next one is copied: into pinned memory, from which the device
fetches it by itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fwlab.arrays import Floats, is_tensor
from fwlab.operators.tensor_rows import Part, TensorRows


@dataclass(frozen=True, eq=False)
class HostRows(TensorRows):
    """Rows of X (n, d) for a device that X is too large for. Needs torch.

    Use it as the X of a Problem with CrossEntropy.

    Parameters
    ----------
    X : array, memory map or torch.Tensor (n, d)
        Rows of a floating type, in the memory of the host or in a file.
    target : str or torch.device
        The device that makes all products.
    """

    target: Any = "cuda"

    def __post_init__(self) -> None:
        is_array = isinstance(self.X, np.ndarray)
        if not (is_array or hasattr(self.X, "detach")):
            kind = type(self.X).__name__
            raise TypeError(f"X must be an array, a memory map or a torch tensor; got {kind}.")
        if is_array and self.X.dtype.kind == "f" and self.X.dtype.itemsize > 8:
            raise TypeError(f"X must be a type of at most 64 bits; got {self.X.dtype}.")
        if not is_array:
            object.__setattr__(self, "X", self.X.detach())
        try:
            self.device  # noqa: B018  # torch checks its name
        except (RuntimeError, TypeError, ValueError):
            raise ValueError(f"target must name a device of torch; got {self.target!r}.") from None

    @property
    def xp(self) -> Any:
        import array_api_compat.torch

        return array_api_compat.torch

    @property
    def device(self) -> Any:
        return self.xp.device(self.target)

    def __getitem__(self, key: Any) -> "HostRows":
        return HostRows(self.X[key], self.target)

    def last_column(self) -> Floats:
        return np.asarray(self.X[:, -1:])

    def parts(self, n_classes: int, dtype: Any) -> Iterator[Part]:
        slices = self.slices(n_classes)
        sent = self._sent_ahead(slices) if self.device.type == "cuda" else map(self._rows, slices)
        for rows, part in zip(slices, sent, strict=True):
            yield rows, self.xp.astype(part, dtype, copy=False)

    def _rows(self, rows: slice) -> Any:
        """Return some rows as a tensor in the memory of the host.

        Arrays are copied, in the byte order of this machine.
        """
        part = self.X[rows, :]
        if is_tensor(part):
            return part
        return self.xp.asarray(np.array(part, dtype=part.dtype.newbyteorder("=")))

    def _sent_ahead(self, slices: list[slice]) -> Iterator[Any]:
        """Yield the rows of each slice on the device, and send the next rows meanwhile."""
        torch, device = self.xp, self.device
        stream, length = torch.cuda.Stream(device), slices[0].stop
        kinds = self._rows(slice(0, 1)).dtype
        shape = (length, self.shape[1])
        pinned = [torch.empty(shape, dtype=kinds, pin_memory=True) for _ in range(2)]
        sent = [torch.cuda.Event(), torch.cuda.Event()]

        def send(i: int) -> Any:
            room = pinned[i % 2][: slices[i].stop - slices[i].start]
            # the transfer of the part before the last one has left this room
            sent[i % 2].synchronize()
            room.copy_(self._rows(slices[i]))
            with torch.cuda.stream(stream):
                part = room.to(device, non_blocking=True)
                sent[i % 2].record(stream)
            return part

        ahead = send(0)
        for i in range(len(slices)):
            part, used = ahead, torch.cuda.current_stream(device)
            used.wait_event(sent[i % 2])
            part.record_stream(used)
            yield part
            if i + 1 < len(slices):
                ahead = send(i + 1)
