"""Telling two settings of one method apart: pooled, a table would show the mean of two methods as one."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from tpbench_score.sample_seeds import explode

SETTING_COLUMNS = ("probe", "corpus", "protocol", "example_id", "method", "ratio")
"""What one row of a method is asked for once per sample, in each of its settings."""


def shown_methods(inputs: pa.Table) -> pa.ChunkedArray:
    """The name under which a table shows each input's method.

    That is the method; where one method holds a question of one sample in several settings at one ratio, such as
    ``new_words`` and ``new_words(min_length=5)``, each input of it goes by its printed settings. Samples that have
    each a setting of their own, such as random selectors seeded like their sample, stay one method.

    Args:
        inputs: Columns `SETTING_COLUMNS`, ``method_config`` and ``sample_seeds``.
    """
    methods = inputs["method"]
    configs = pc.coalesce(inputs["method_config"], methods)
    if len(pc.unique(configs)) <= len(pc.unique(methods)):
        return methods
    several = pc.is_in(methods, value_set=_in_several_settings(inputs, configs))
    return pc.if_else(several, configs, methods)


def _in_several_settings(inputs: pa.Table, configs: pa.ChunkedArray) -> pa.Array:
    entries, seeds = explode(inputs["sample_seeds"])
    rows = pa.array(entries)
    one = inputs.select(SETTING_COLUMNS).take(rows)
    one = one.append_column("config", configs.take(rows)).append_column("seed", pa.array(seeds))
    settings = one.group_by([*SETTING_COLUMNS, "seed"]).aggregate([("config", "count_distinct")])
    return pc.unique(settings.filter(pc.greater(settings["config_count_distinct"], 1))["method"]).cast(pa.string())
