"""Statistics against other programs' numbers, the paper's quotes, and pinned literals where a stream must not move."""

from __future__ import annotations

import hashlib
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpbench_score.statistics import (
    OWN,
    PUBLISHED,
    Confusion,
    Sample,
    average_ranks,
    best,
    crossing_weight,
    intervals,
    mcnemar_exact,
    paired_flips,
    sample_sd,
    seed_mean,
    spearman,
    wilson_interval,
)
from tpbench_score.statistics.bootstrap import Coded, corpus_interval, gap_intervals, percentile_interval
from tpbench_score.statistics.draws import PublishedDraws, corpus_draws, own_draws

ROWS = 90
VALUES = np.array([1.0 if (i * 7) % 11 < 4 else 0.0 for i in range(ROWS)])
FRACTIONS = np.array([(i * 13 % 29) / 29 for i in range(ROWS)])
SEEDS = np.array([42 + i % 3 for i in range(ROWS)])
POOLED = np.zeros(ROWS, dtype=np.int64)
CLUSTERS = [f"d{(i * 5) % 37:02d}" for i in range(ROWS)]


# --- means over seeds -------------------------------------------------------------------------------------------


def test_a_cell_is_the_mean_of_seed_rates_and_not_the_pooled_rate() -> None:
    rates = [86 / 128, 87 / 125, 93 / 132]
    assert seed_mean(rates) == pytest.approx(0.6908068, abs=5e-8)
    assert seed_mean(rates) != pytest.approx((86 + 87 + 93) / (128 + 125 + 132), abs=1e-6)


def test_the_deviation_is_the_sample_deviation() -> None:
    # numpy 2.4.6: np.std(x, ddof=1); scipy 1.17.1: scipy.stats.tstd(x)
    assert sample_sd([0.671875, 0.696, 0.704545]) == pytest.approx(0.01694285272123124, abs=1e-15)
    assert sample_sd([0.48, 0.51, 0.47]) == pytest.approx(0.020816659994661344, abs=1e-15)


def test_one_seed_has_no_deviation_and_no_seed_has_no_mean() -> None:
    assert sample_sd([0.5]) is None
    assert seed_mean([]) is None
    assert sample_sd([0.1, 0.1, 0.1]) == 0.0


# --- ranks ------------------------------------------------------------------------------------------------------

# Unweighted means of three seeds, the seven selectors in table order (scoring spec 5.1, Figure 2).
P1_STRICT = {
    "sgd": [0.01, 0.145, 0.48, 0.49333333333333335, 0.49333333333333335, 0.17833333333333334, 0.19333333333333333],
    "multiwoz": [
        0.0016666666666666668,
        0.14666666666666667,
        0.41,
        0.4066666666666667,
        0.4083333333333333,
        0.12833333333333333,
        0.11666666666666667,
    ],
}
P2_STRICT = {
    "sgd": [
        0.2540383333333333,
        0.278433,
        0.156188,
        0.282839,
        0.11433700000000001,
        0.30944333333333335,
        0.16362247474747474,
    ],
    "multiwoz": [
        0.12456833333333334,
        0.31357833333333335,
        0.29589366666666667,
        0.28554166666666664,
        0.24370266666666665,
        0.29183933333333334,
        0.30615942028985504,
    ],
}


def test_published_ranks_with_a_tie_at_the_top() -> None:
    assert average_ranks(P1_STRICT["sgd"]) == [7, 6, 3, 1.5, 1.5, 5, 4]
    assert average_ranks(P2_STRICT["sgd"]) == [4, 3, 6, 2, 7, 1, 5]
    assert average_ranks(P1_STRICT["multiwoz"]) == [7, 4, 1, 3, 2, 5, 6]
    assert average_ranks(P2_STRICT["multiwoz"]) == [7, 1, 3, 5, 6, 4, 2]


def test_ranks_agree_with_scipy() -> None:
    # scipy 1.17.1: scipy.stats.rankdata([-x for x in scores])
    assert average_ranks([0.1, 0.5, 0.5, 0.9, 0.2]) == [5.0, 2.5, 2.5, 1.0, 4.0]


def test_published_spearman() -> None:
    assert spearman(P1_STRICT["sgd"], P2_STRICT["sgd"]) == pytest.approx(-0.3423562358243124, abs=1e-15)
    assert spearman(P1_STRICT["multiwoz"], P2_STRICT["multiwoz"]) == pytest.approx(0.10714285714285714, abs=1e-15)


def test_spearman_with_ties_on_both_sides_agrees_with_scipy() -> None:
    # scipy 1.17.1: scipy.stats.spearmanr(a, b).statistic
    assert spearman([0.1, 0.5, 0.5, 0.9, 0.2], [3, 1, 2, 2, 5]) == pytest.approx(-0.6578947368421054, abs=1e-15)


def test_spearman_of_a_constant_side_is_none_and_not_nan() -> None:
    assert spearman([1, 2, 3], [4, 4, 4]) is None
    assert spearman([1], [2]) is None
    with pytest.raises(ValueError, match="one length"):
        spearman([1, 2], [1])


def test_sums_that_differ_in_the_last_bit_are_a_tie() -> None:
    assert 0.1 + 0.2 != 0.3
    assert best([0.1 + 0.2, 0.3, 0.2, None]) == [True, True, False, False]
    assert average_ranks([0.1 + 0.2, 0.3]) == [1.5, 1.5]
    assert best([0.3, 0.3 + 1e-9]) == [False, True]
    assert best([None, None]) == [False, False]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_ranks_always_sum_to_the_triangular_number(scores: list[int]) -> None:
    assert sum(average_ranks(scores)) == len(scores) * (len(scores) + 1) / 2


# --- crossing ---------------------------------------------------------------------------------------------------


def test_the_crossing_from_unrounded_means_is_not_the_printed_one() -> None:
    # Earliest turns (a) against embedding MMR (b) on SGD; scoring spec 4.7 and trap X31.
    unrounded = crossing_weight(0.48, 0.156188, 0.17833333333333334, 0.30944333333333335)
    rounded = crossing_weight(0.302, 0.0, 0.0, 0.153)
    assert unrounded is not None
    assert rounded is not None
    assert round(unrounded, 4) == 0.3369
    assert round(rounded, 3) == 0.336


def test_no_crossing_where_one_method_leads_on_both() -> None:
    assert crossing_weight(0.5, 0.5, 0.4, 0.4) is None
    assert crossing_weight(0.5, 0.5, 0.5, 0.4) is None


@given(*[st.integers(0, 100)] * 4)
def test_at_the_crossing_both_weighted_means_are_equal(a1: int, a2: int, b1: int, b2: int) -> None:
    weight = crossing_weight(a1, a2, b1, b2)
    if weight is not None:
        assert 0 < weight < 1
        assert weight * a1 + (1 - weight) * a2 == pytest.approx(weight * b1 + (1 - weight) * b2)


# --- Wilson -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # statsmodels 0.15.0: proportion_confint(k, n, alpha=2 * scipy.stats.norm.sf(1.96), method="wilson")
        (86, 128, 0.5865623991215974, 0.7471714147884281),
        (3, 159, 0.0064370943857375955, 0.053999550795837625),
        (7, 50, 0.06950745262022859, 0.2618645719852809),
        (0, 86, 0.0, 0.042759701519118086),
    ],
)
def test_wilson_with_z_of_exactly_196(successes: int, n: int, low: float, high: float) -> None:
    assert wilson_interval(successes, n) == pytest.approx((low, high), abs=1e-14)


def test_wilson_ends_are_exact_and_stay_inside() -> None:
    assert wilson_interval(0, 86)[0] == 0.0  # type: ignore[index]
    assert wilson_interval(86, 86)[1] == 1.0  # type: ignore[index]
    assert wilson_interval(0, 0) is None
    with pytest.raises(ValueError, match="3 of 2"):
        wilson_interval(3, 2)


# --- McNemar ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("b", "c", "p"),
    [
        # The paper's four (scoring spec 4.5) ...
        (23, 0, 2.384185791015625e-07),
        (64, 0, 1.0842021724855044e-19),
        (76, 1, 1.0323214044661785e-21),
        (123, 0, 1.88079096131566e-37),
        # ... and statsmodels 0.15.0: mcnemar([[0, b], [c, 0]], exact=True).pvalue
        (9, 3, 0.14599609375),
        (15, 2, 0.002349853515625),
        (23, 2, 1.9431114196777344e-05),
        (400, 300, 0.0001784763144856244),
        (5, 5, 1.0),
        (0, 0, 1.0),
    ],
)
def test_mcnemar_exact(b: int, c: int, p: float) -> None:
    assert mcnemar_exact(b, c) == pytest.approx(p, rel=1e-12)
    assert mcnemar_exact(c, b) == mcnemar_exact(b, c)


def test_mcnemar_of_thousands_of_pairs_does_not_overflow() -> None:
    assert 0 < mcnemar_exact(3000, 3400) < 1e-5


def test_the_conditional_test_leaves_out_items_wrong_in_full_context() -> None:
    #           full   deletion control
    items = [(1, 0, 1)] * 23 + [(1, 1, 1)] * 63 + [(0, 1, 0)] * 2 + [(0, 0, 0)] * 40
    full, deletion, control = zip(*items, strict=True)
    flips = paired_flips(full, deletion, control)
    assert (flips.n, flips.full_correct, flips.deletion_flips, flips.control_flips) == (128, 86, 23, 0)
    assert flips.p_conditional == pytest.approx(2.384185791015625e-07)
    assert flips.p_all_items == pytest.approx(1.9431114196777344e-05)
    assert flips.counterfactual_rate == 23 / 128
    assert flips.counterfactual_rate_given_full == 23 / 86


# --- agreement --------------------------------------------------------------------------------------------------


def test_published_judge_agreement() -> None:
    judge = Confusion(tp=201, tn=297, fp=64, fn=33)
    baseline = Confusion(tp=149, tn=309, fp=52, fn=85)
    assert judge.accuracy == pytest.approx(0.8369747899159664)
    assert judge.balanced_accuracy == pytest.approx(0.8408445202074011)
    assert baseline.balanced_accuracy == pytest.approx(0.7463539077112484)


def test_an_uncertain_judgment_is_incorrect_and_stays_in_the_denominator() -> None:
    counts = Confusion.count([(True, True), (True, None), (False, False), (False, True)])
    assert counts.accuracy == 2 / 4
    assert counts.balanced_accuracy == (1 / 2 + 1 / 2) / 2
    assert counts.uncertainty == 1 / 4
    assert Confusion.count([(True, True)]).balanced_accuracy is None
    assert Confusion.count([]).accuracy is None


# --- streams: pinned, because a moved stream moves every interval -------------------------------------------------


def test_our_stream_is_pinned() -> None:
    assert own_draws(7, 4).tolist() == [
        [5, 6, 4, 0, 3, 1, 3],
        [6, 6, 4, 2, 5, 0, 4],
        [6, 4, 3, 3, 3, 0, 6],
        [4, 2, 2, 6, 6, 4, 6],
    ]
    assert own_draws(447, 10_000)[-1, -5:].tolist() == [189, 73, 36, 435, 390]


def test_the_published_stream_is_pinned() -> None:
    assert PublishedDraws().draw(7, 4).tolist() == [
        [1, 3, 6, 0, 4, 2, 3],
        [2, 6, 5, 3, 2, 1, 0],
        [0, 4, 3, 1, 2, 0, 0],
        [4, 2, 5, 2, 3, 4, 6],
    ]
    assert PublishedDraws().draw(447, 5_000)[-1, -5:].tolist() == [15, 420, 184, 347, 239]


def test_the_published_stream_is_numpys_and_continues_over_calls() -> None:
    numpys, ours = np.random.default_rng(20260928), PublishedDraws()
    # 447 x 1 leaves half a word over; 100,003 clusters reject some words.
    for clusters, resamples in ((447, 1), (423, 51), (1, 10), (3, 7), (100_003, 30), (286, 5)):
        expected = numpys.integers(clusters, size=(resamples, clusters))
        assert np.array_equal(ours.draw(clusters, resamples), expected)


def test_the_corpus_stream_is_pythons_randrange() -> None:
    assert corpus_draws("risawoz_p2|p3_correct|recency", 7, 4).tolist() == [
        [0, 3, 3, 1, 5, 3, 3],
        [5, 0, 3, 5, 1, 5, 3],
        [5, 6, 2, 3, 2, 1, 4],
        [1, 5, 4, 1, 1, 2, 0],
    ]
    assert corpus_draws("risawoz_p2|p3_correct|recency", 207, 10_000)[-1, -5:].tolist() == [33, 168, 96, 132, 100]
    label = "lme_ku_p2|p3_em_strict|first_n"
    seed = int(hashlib.sha256(f"20260811|{label}".encode()).hexdigest()[:16], 16)
    for n in (1, 2, 64, 72):
        generator = random.Random(seed)
        assert corpus_draws(label, n, 5).tolist() == [[generator.randrange(n) for _ in range(n)] for _ in range(5)]


# --- intervals --------------------------------------------------------------------------------------------------


def test_intervals_of_both_recipes_are_pinned() -> None:
    samples = [Sample(VALUES, SEEDS, CLUSTERS), Sample(FRACTIONS, SEEDS, CLUSTERS)]
    assert intervals(samples, OWN) == [
        pytest.approx((0.2959067717996289, 0.4347826086956522), abs=1e-12),
        pytest.approx((0.4370583376005927, 0.5257652072839936), abs=1e-12),
    ]
    assert intervals(samples, PUBLISHED) == [
        pytest.approx((0.29543660287081336, 0.4352941176470589), abs=1e-12),
        pytest.approx((0.4365260342178842, 0.5246599030852075), abs=1e-12),
    ]


def test_the_published_interval_equals_a_plain_reading_of_the_recipe() -> None:
    order = list(dict.fromkeys(CLUSTERS))
    weighted, weights = np.zeros(len(order)), np.zeros(len(order))
    for value, cluster in zip(VALUES, CLUSTERS, strict=True):
        weighted[order.index(cluster)] += value / 30
        weights[order.index(cluster)] += 1 / 30
    drawn = np.random.default_rng(20260928).integers(len(order), size=(5_000, len(order)))
    statistic = weighted[drawn].sum(axis=1) / weights[drawn].sum(axis=1)
    expected = tuple(np.quantile(statistic, [0.025, 0.975], method="linear"))
    assert intervals([Sample(VALUES, SEEDS, CLUSTERS)], PUBLISHED) == [pytest.approx(expected, abs=1e-12)]


def test_our_interval_does_not_depend_on_row_order_and_the_published_one_does() -> None:
    turned = Sample(VALUES[::-1], SEEDS[::-1], CLUSTERS[::-1])
    straight = Sample(VALUES, SEEDS, CLUSTERS)
    assert intervals([turned], OWN) == intervals([straight], OWN)
    assert intervals([turned], PUBLISHED) != intervals([straight], PUBLISHED)


def test_seeds_of_one_dialogue_move_together() -> None:
    # One dialogue in three seeds is one cluster: with a single cluster there is nothing to resample.
    rows = Sample(np.array([1.0, 0.0, 1.0]), np.array([42, 43, 44]), ["d", "d", "d"])
    (interval,) = intervals([rows])
    assert interval == pytest.approx((2 / 3, 2 / 3))


def test_a_batch_gives_what_each_sample_gives_alone() -> None:
    samples = [Sample(VALUES, SEEDS, CLUSTERS), Sample(VALUES[:40], SEEDS[:40], CLUSTERS[:40])] * 20
    together = intervals(samples)
    assert together[:2] == [intervals([samples[0]])[0], intervals([samples[1]])[0]]


def test_an_empty_sample_has_no_interval() -> None:
    assert intervals([Sample(np.array([]), np.array([], dtype=np.int64), [])]) == [None]
    assert corpus_interval("lme_ku_p2|p3_em_strict|recency", []) is None


def test_gap_intervals_share_one_generator_in_sequence() -> None:
    contrasts = [
        [Sample(VALUES - np.roll(VALUES, 3), POOLED, CLUSTERS)],
        [Sample(VALUES, POOLED, CLUSTERS), Sample(1 - VALUES, POOLED, CLUSTERS)],
    ]
    first, second = gap_intervals(contrasts)
    assert first == [pytest.approx((-0.0967741935483871, 0.09090909090909091), abs=1e-12)]
    assert second[0] == pytest.approx((0.2967032967032967, 0.43479539641943715), abs=1e-12)
    # Both thresholds of one contrast are drawn together: the complement has the mirrored interval.
    assert second[1] == pytest.approx((1 - second[0][1], 1 - second[0][0]), abs=1e-12)  # type: ignore[index]
    alone = gap_intervals(contrasts[1:])[0]
    assert alone[0] != second[0]


def test_the_published_corpus_interval_of_lme_ku_full_context() -> None:
    # 30 of 72 right; which dialogues are right moves the ends by single steps of 1/72 only.
    assert corpus_interval("lme_ku_p2|p3_em_strict|full_context", [1] * 30 + [0] * 42) == pytest.approx(
        (0.3055555555555556, 0.5277777777777778), abs=1e-12
    )


def test_five_selector_seeds_are_averaged_within_the_dialogue() -> None:
    totals = [i % 6 for i in range(40)]
    assert corpus_interval("risawoz_p2|p3_correct|random_selection", totals, 5) == pytest.approx(
        (0.38, 0.585), abs=1e-12
    )


def test_an_interval_is_the_same_alone_again_and_among_others() -> None:
    sample, other = Sample(VALUES, SEEDS, CLUSTERS), Sample(1 - VALUES, SEEDS, CLUSTERS)
    alone = intervals([sample])
    assert intervals([other, sample, sample]) == [*intervals([other]), *alone, *alone]
    assert intervals([sample], PUBLISHED) != alone
    names = sorted(set(CLUSTERS), reverse=True)
    coded = Sample(VALUES, SEEDS, Coded(np.array([names.index(name) for name in CLUSTERS]), names))
    for recipe in (OWN, PUBLISHED):
        assert intervals([coded], recipe) == intervals([sample], recipe)


def test_gaps_are_the_same_when_they_are_asked_for_again() -> None:
    contrasts = [[Sample(VALUES, POOLED, CLUSTERS)], [Sample(1 - VALUES, POOLED, CLUSTERS)]]
    first = gap_intervals(contrasts)
    assert gap_intervals(contrasts[::-1]) != first[::-1]
    assert gap_intervals(contrasts) == first


@pytest.mark.parametrize("size", [1, 2, 3, 41, 10_000])
def test_quantiles_do_not_need_a_full_sort(size: int) -> None:
    values = np.random.default_rng(3).integers(0, 50, size) / 50
    expected = np.quantile(values, [0.025, 0.975])
    assert percentile_interval(values) == pytest.approx(tuple(expected), abs=1e-15)
