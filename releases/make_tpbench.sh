#!/bin/sh
# How the embedded release was made, step by step, in the folder WORK:
#
#     sh releases/make_tpbench.sh sources | contexts | answers | freeze [WORK]
#
# `sources` writes the dialogues, `contexts` builds every input, `answers` runs the reader (about three hours on one core; when
# interrupted, give the command again), `freeze` puts answers and tables into WORK/tpbench. `contexts` and `answers` need
# the extra `generate`. `sources`, `contexts` and `freeze` give the same bytes again; of the answers, see
# `tpbench-generate reproduce`.
set -eu

step=${1:?sources, contexts, answers or freeze}
work=${2:-work}
here=$(cd "$(dirname "$0")" && pwd)
three=initial_goal,current_value,joint_recovery
mkdir -p "$work"

sources() {
    tpbench-data synthesize --language en --seed 1 --per-type 16 --out "$work/tpbench_en.jsonl"
    tpbench-data synthesize --language zh --seed 1 --per-type 8 --out "$work/tpbench_zh.jsonl"
}

contexts() {
    tpbench-data build --corpus tpbench_en="$here/sources/tpbench_en.jsonl" \
        --corpus tpbench_zh="$here/sources/tpbench_zh.jsonl" --n 20 --ratios 0.1,0.3,0.5,0.7 \
        --methods selectors,deletions --protocol paper,matched --probes $three,free_form \
        --release-version 0.1.0 --out "$work/0.1.0"
    tpbench-generate select --release "$work/0.1.0" --method embedding_mmr,dense_topk,h2o_proxy --ratio 0.3 \
        --probe $three --release-version 0.1.1 --out "$work/0.1.1"
    tpbench-generate select --release "$work/0.1.1" --method dycp --probe $three --release-version 0.1.2 \
        --out "$work/0.1.2"
    tpbench-generate select --release "$work/0.1.2" --method embedding_mmr,dense_topk --ratio 0.1,0.5,0.7 \
        --probe current_value --protocol paper --release-version 0.1.3 --out "$work/0.1.3"
    tpbench-generate select --release "$work/0.1.3" --method embedding_mmr,dense_topk --ratio 0.1,0.3 --probe free_form \
        --protocol paper --release-version 0.1.4 --out "$work/0.1.4"
    tpbench-generate select --release "$work/0.1.4" --method dycp --probe free_form --protocol paper \
        --release-version 0.1.5 --out "$work/0.1.5"
}

# run NAME OPTIONS...: one run folder. `shown` puts a worked example before every prompt, `batched` answers 16 at a time.
run() {
    name=$1
    shift
    tpbench-generate run --release "$work/0.1.5" --reader smollm2-135m --max-new-tokens 48 --out "$work/runs/$name" "$@"
}
shown() { run "$@" --demonstration shed@1; }
batched() { "$@" --batch-size 16 --share-beginnings; }

answers() {
    en="--corpus tpbench_en --protocol paper --ratio 0.3"
    zh="--corpus tpbench_zh --protocol paper --ratio 0.3"
    plain=full_context,no_context,oracle_evidence,recency,random,first_turns,uniform_stride,first_user_recent,bm25
    every=$plain,embedding_mmr,dense_topk,h2o_proxy
    dropped=drop_update,drop_update_control,drop_evidence,drop_evidence_control
    batched shown main $en --probe $three --method $every
    batched shown main_dycp --corpus tpbench_en --protocol paper --probe $three --method dycp
    batched shown budgets --corpus tpbench_en --protocol paper --ratio 0.1,0.5,0.7 --probe current_value --role budgets \
        --method recency,random,uniform_stride,embedding_mmr
    batched shown deletion $en --probe current_value --role deletion --method full_context,$dropped
    batched run free_form $en --probe free_form --role free_form --method full_context,recency,$dropped
    for method in snapkv streamingllm pyramidkv; do
        shown kv_$method $en --probe current_value --kv $method
    done
    shown kv_chunkkv $en --probe current_value,joint_recovery --kv chunkkv
    for length in 10 20 40; do
        shown chunkkv_$length $en --probe current_value --kv "chunkkv(chunk_length=$length)" --role chunk_sweep
    done
    batched shown main_zh $zh --probe current_value --method $every
    batched shown matched --corpus tpbench_en --protocol matched --ratio 0.3 --probe current_value --method $every
    batched run bare $en --probe current_value,joint_recovery --method full_context,recency
    batched shown deletion_zh $zh --probe current_value --role deletion --method full_context,$dropped
}

freeze() {
    outputs=
    for folder in "$work"/runs/*/; do outputs="$outputs --outputs $folder"; done
    tpbench-data freeze "$work/0.1.5" $outputs --release-version 0.4.0 --out "$work/0.4.0"
    tpbench-score tables "$work/0.4.0" --format json --out "$work/tables"
    tpbench-score reachability "$work/0.4.0" --out "$work/tables/reachability.json"
    tpbench-data freeze "$work/0.4.0" --tables "$work/tables" --release-version 1.1.0 --out "$work/tpbench"
}

"$step"
