"""HiGHS, silent and on one thread: linear programs whose rows stay while bounds and objective change."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import NamedTuple

import highspy
import numpy as np
from scipy import sparse

from reident.release.calls import LINEAR, WHOLE, Calls

WARM = 3000
"""The largest number of variables with which a solution starts from the one before: larger programs are simplified."""


MAX_NODES = 1000
"""The nodes after which a search for a best point of whole numbers ends; the audits of small studies need one."""

PRIMAL = 4
"""The primal simplex method, by its number: the point before stays feasible where only the objective changes."""


class Solution(NamedTuple):
    """A best point of a linear program."""

    point: np.ndarray
    # Positive where the lower end of a row holds the objective up, negative for the upper end; meaningless where the
    # point is of whole numbers.
    duals: np.ndarray
    is_best: bool = True  # False where the search for a point of whole numbers ended before it was complete


class Program:
    """Rows of a linear program, for which points with the smallest value of objectives are found.

    The ends of the rows, float64 (rows,), may be infinite.

    In a small program, a solution starts from that of the objective before, which is much faster than from nothing.
    Which of several best points is found therefore depends on the order of the objectives, and on nothing else.
    """

    def __init__(
        self, matrix: sparse.csr_array, row_low: np.ndarray, row_high: np.ndarray, calls: Calls | None = None
    ) -> None:
        self.matrix, self.row_low, self.row_high = matrix, row_low, row_high
        self.calls = calls or Calls()
        self._models: dict[bool, highspy.Highs] = {}

    def smallest(
        self,
        objective: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        *,
        whole: bool = False,
        gap: float = 0.0,
        presolve: bool = True,
    ) -> Solution | None:
        """Return a point between two others with the smallest objective, float64 (k,); None where the solver has none.

        Parameters
        ----------
        objective, low, high : float64 (k,)
        whole : bool
            Whether the point must be of whole numbers.
        gap : float
            With whole numbers: how far the objective may be from the smallest one, as a share of it.
        presolve : bool
            Whether a solution may simplify the program before it; small ones are solved faster without.
        """
        k = len(objective)
        if not k:
            return Solution(np.zeros(0), np.zeros(len(self.row_low)))
        with _silence():
            model = self._models.get(whole) or self._model(whole)
            if k > WARM:
                model.clearSolver()
            columns = np.arange(k, dtype=np.int32)
            model.changeColsCost(k, columns, objective.astype(float))
            model.changeColsBounds(k, columns, low.astype(float), high.astype(float))
            model.setOptionValue("presolve", "choose" if presolve else "off")
            model.setOptionValue("mip_rel_gap", gap)
            model.setOptionValue("mip_max_nodes", MAX_NODES if objective.any() else highspy.kHighsIInf)
            model.run()
            status, point = model.getModelStatus(), model.getSolution()
            self.calls.add(WHOLE + max(0, model.getInfo().mip_node_count) if whole else LINEAR)
            is_best = status == highspy.HighsModelStatus.kOptimal
            # A point that is whole but perhaps not the best one is of use too.
            if not is_best and not (status == highspy.HighsModelStatus.kSolutionLimit and point.value_valid):
                return None
            return Solution(np.array(point.col_value), np.array(point.row_dual), is_best)

    def _model(self, whole: bool) -> highspy.Highs:
        rows, k = self.matrix.shape
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = k, rows
        program.col_cost_, program.col_lower_, program.col_upper_ = np.zeros(k), np.zeros(k), np.zeros(k)
        program.row_lower_, program.row_upper_ = self.row_low.astype(float), self.row_high.astype(float)
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.num_col_, program.a_matrix_.num_row_ = k, rows
        program.a_matrix_.start_ = self.matrix.indptr.astype(np.int32)
        program.a_matrix_.index_ = self.matrix.indices.astype(np.int32)
        program.a_matrix_.value_ = self.matrix.data.astype(float)
        if whole:
            program.integrality_ = [highspy.HighsVarType.kInteger] * k
        model = highspy.Highs()
        model.setOptionValue("output_flag", False)
        model.setOptionValue("threads", 1)
        model.setOptionValue("simplex_strategy", PRIMAL)
        model.passModel(program)
        self._models[whole] = model
        return model


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Discard the output of compiled code, which prints some messages in spite of its options."""
    sys.stdout.flush()
    before, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(before, 1)
        os.close(before)
        os.close(nowhere)
