"""Compute everything a second time, slowly, by code written from the papers' definitions.

A loss (reference.losses) is its formula, linear rows for t >= loss, and a finite set of weightings.
From the rows follow linear programs (lp: conjugate, domain, LMO), certified quadratic programs (qp:
projection, Moreau envelope) and certified training problems (training, fixation, and lp_norm;
margin_losses covers differentiable losses of the margin, and cross_entropy and topk_entropy cover
losses whose conjugates are entropies, in decimals). From the weightings follow the exact rational
versions (exact, vertices, counterexamples). The polytopes that the papers derive
(derived_polytopes) are built separately, for comparison, and so are the projections of L15 onto
some of them in fractions (exact_projection). Everything works on one row of scores, with labels
that count from 0. Nothing here imports or copies the library under test.
"""

from reference import counterexamples as counterexamples
from reference import cross_entropy as cross_entropy
from reference import derived_polytopes as derived_polytopes
from reference import exact as exact
from reference import exact_projection as exact_projection
from reference import lp as lp
from reference import qp as qp
from reference import topk_entropy as topk_entropy
from reference.certificate import Certified as Certified
from reference.cross_entropy import LogisticRegression as LogisticRegression
from reference.fixation import OtherDual as OtherDual
from reference.losses import Loss as Loss
from reference.losses import MaxHinge as MaxHinge
from reference.losses import PseudoTopK as PseudoTopK
from reference.losses import StructuredHinge as StructuredHinge
from reference.losses import TopK as TopK
from reference.losses import Usunier as Usunier
from reference.losses import WeightedTopK as WeightedTopK
from reference.losses import WeightedUsunier as WeightedUsunier
from reference.lp_norm import BlockNormTraining as BlockNormTraining
from reference.margin_losses import Logistic as Logistic
from reference.margin_losses import MarginMachine as MarginMachine
from reference.margin_losses import SquaredHinge as SquaredHinge
from reference.topk_entropy import TopKLogistic as TopKLogistic
from reference.training import Training as Training
from reference.training import joint_features as joint_features
from reference.training import linear_training as linear_training
from reference.vertices import vertices as vertices
