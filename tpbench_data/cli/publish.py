"""``tpbench-data publish``."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tpbench_data.errors import BadInput

if TYPE_CHECKING:
    from tpbench_data.hub.publish import Plan

_SHOWN = 30


@click.command("publish")
@click.argument("release", type=click.Path(path_type=Path))
@click.option("--repo-id", metavar="ORG/NAME", help="Dataset repository on the Hub.")
@click.option("--to", "shelf", type=click.Path(path_type=Path), help="A plain folder of versions, in place of a Hub.")
@click.option("--endpoint", metavar="URL", help="Address of the Hub. Default: HF_ENDPOINT, or huggingface.co.")
@click.option("--tag", default="", help="Tag to set. Default: v and the version of the release.")
@click.option("--private", is_flag=True, help="Make a new repository private.")
@click.option("--dry-run", is_flag=True, help="Only print what would be done.")
@click.option("--json", "as_json", is_flag=True, help="Print plan and result as JSON.")
def command(
    release: Path,
    repo_id: str | None,
    shelf: Path | None,
    endpoint: str | None,
    tag: str,
    private: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Publish a release: check it, upload what differs, verify every hash, set the tag.

    A tag that is there is never moved: published again, the same release is left as it is and another one is an
    error. The token comes from HF_TOKEN or from `hf auth login`.

    \b
    Example:
      tpbench-data publish R --repo-id ORG/tpbench --dry-run
      tpbench-data publish R --repo-id ORG/tpbench
      tpbench-data publish R --to /data/releases
    """
    if (repo_id is None) == (shelf is None):
        raise BadInput("give either --repo-id or --to", field="--repo-id", remedy="See tpbench-data publish --help")
    if shelf is not None:
        from tpbench_data.hub.folder import publish_to_folder

        target, was_there = publish_to_folder(release, shelf, tag, dry_run)
        if as_json:
            click.echo(json.dumps({"folder": str(target), "already_published": was_there, "dry_run": dry_run}))
        else:
            state = "is there already" if was_there else "would be written" if dry_run else "published"
            click.echo(f"{target}: {state}")
        return
    from tpbench_data.console import progress
    from tpbench_data.hub.publish import Publisher
    from tpbench_data.hub.remote import Remote

    say = progress("publish")
    publisher = Publisher(release, Remote(str(repo_id), endpoint, say), private, tag, say)
    if dry_run:
        plan = publisher.plan()
        click.echo(json.dumps({"dry_run": True, **asdict(plan)}) if as_json else _describe(plan))
        return
    done = publisher.publish()
    if as_json:
        click.echo(json.dumps({"commit": done.commit, "digest": done.digest, **asdict(done.plan)}))
        return
    verb = "is published already" if done.plan.done else "published"
    click.echo(f"{done.plan.repository} {verb}: tag {done.plan.tag}, commit {done.commit}, digest {done.digest}")


def _describe(plan: Plan) -> str:
    lines = [plan.repository]
    if plan.create:
        lines.append("create the repository")
    for verb, paths in (("upload", plan.upload), ("remove", plan.remove)):
        lines += [f"{verb} {path}" for path in paths[:_SHOWN]]
        if len(paths) > _SHOWN:
            lines.append(f"{verb} {len(paths) - _SHOWN} more")
    lines.append(f"keep {len(plan.keep)} files, upload {len(plan.upload)} with {plan.bytes} bytes")
    lines.append(f"tag {plan.tag} is set already" if plan.done else f"set tag {plan.tag}")
    return "\n".join(lines)
