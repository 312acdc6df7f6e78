"""``tpbench-data pull``."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("pull")
@click.argument("source")
@click.option("--revision", help="Tag, branch or commit; in a folder of versions, the version. Default on a Hub: main.")
@click.option("--digest", metavar="HEX", help="The digest that the release must have.")
@click.option("--endpoint", metavar="URL", help="Address of the Hub. Default: HF_ENDPOINT, or huggingface.co.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder to make.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    source: str, revision: str | None, digest: str | None, endpoint: str | None, out: Path, as_json: bool
) -> None:
    """Get a release from a Hub (ORG/NAME) or from a plain folder, and check it in depth.

    A revision is settled to one commit, and every byte is compared with the manifest. An interrupted download goes
    on with the same command; the folder --out is there only when the release is whole and sound.

    \b
    Example:
      tpbench-data pull ORG/tpbench --revision v1.0.0 --out tpbench
      tpbench-data pull /data/releases --revision v1.0.0 --out tpbench
    """
    if Path(source).is_dir():
        from tpbench_data.hub.folder import pull_from_folder

        found = pull_from_folder(Path(source), revision, out, digest)
        result = {"folder": str(out), "commit": None, "digest": found.digest}
    else:
        from tpbench_data.console import progress
        from tpbench_data.hub.pull import pull
        from tpbench_data.hub.remote import Remote

        say = progress("pull")
        pulled = pull(Remote(source, endpoint, say), revision or "main", out, digest, say)
        result = {"folder": str(out), "commit": pulled.commit, "digest": pulled.digest}
    if as_json:
        click.echo(json.dumps(result))
    else:
        commit = f"commit {result['commit']}, " if result["commit"] else ""
        click.echo(f"{out}: {commit}digest {result['digest']}")
