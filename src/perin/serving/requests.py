"""The bodies of requests.  Unknown fields are errors: a misspelt one would be ignored otherwise."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def _as_file(value: Any) -> Any:
    """Graphs as the text of a file: an MRP object, or a list of them, becomes lines of MRP."""
    if isinstance(value, dict):
        value = [value]
    if isinstance(value, list):
        return "\n".join(each if isinstance(each, str) else json.dumps(each) for each in value)
    return value


Graphs: TypeAlias = Annotated[
    str,
    BeforeValidator(_as_file, json_schema_input_type=str | dict[str, Any] | list[dict[str, Any]]),
    Field(description="graphs: the text of a file, or one MRP object, or a list of them"),
]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class ParseBody(_Body):
    """What to parse, and to what."""

    text: str | list[str] | None = Field(None, description="a sentence, or several")
    tokens: list[list[str]] | None = Field(None, description="sentences as lists of tokens, instead of text")
    split: bool = Field(False, description="each text is running text: split it into sentences")
    model: str | None = Field(None, description="name of a model (default: the one of the language, else the first)")
    language: str | None = Field(None, description="language of the text, such as eng")
    frameworks: list[str] | Literal["all"] | None = Field(None, description="frameworks (default: the model's first)")
    format: str = Field("mrp", description="format of the graphs: one of /v1/models, or svg or text")
    probabilities: bool = Field(False, description="with the probability of each node, edge, label and top (MRP only)")
    with_tokens: bool = Field(False, description="with the tokens of each sentence")
    stream: bool = Field(False, description="answer with a JSON object a line (NDJSON), each as soon as it is there")


class ConvertBody(_Body):
    """Graphs and the format that they should have."""

    graphs: Graphs
    source: str = Field("mrp", alias="from", description="format of the graphs")
    to: str = Field(description="format to write, or svg or text")


class DrawBody(_Body):
    """Graphs to draw; with ``gold``, what is missing and what is too much in them."""

    graphs: Graphs
    source: str = Field("mrp", alias="from", description="format of the graphs")
    to: Literal["svg", "html", "text", "png", "pdf"] = "svg"
    theme: Literal["auto", "light", "dark"] = "auto"
    gold: Graphs | None = None


class ValidateBody(_Body):
    """Graphs to check for well-formedness."""

    graphs: Graphs
    source: str = Field("mrp", alias="from", description="format of the graphs")


class ScoreBody(_Body):
    """Graphs of a system and the gold graphs to score them against."""

    gold: Graphs
    system: Graphs
    source: str = Field("mrp", alias="from", description="format of both")
    metric: str = Field("mrp", description="mrp, mrp-max, smatch, smatch-fine, edm, ucca or sdp")
    details: bool = Field(False, description="also each graph")


class ViewBody(_Body):
    """Graphs to look at, and gold graphs to compare those with that are of the same sentence."""

    graphs: Graphs
    source: str = Field("mrp", alias="from", description="format of the graphs")
    gold: Graphs | None = None
    gold_source: str = Field("mrp", alias="gold_from", description="format of the gold graphs")
