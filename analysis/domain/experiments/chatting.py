"""A generator that is asked through the gateway: the local server, vLLM, any OpenAI-compatible endpoint."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from analysis.rag.shapes import Floats, NoLikelihoodsError, Output, Prompt
from crowdrag.llm.domain import forecasts, gateway
from crowdrag.llm.models import Endpoint
from crowdrag.studies.models import Study

#: What a constrained answer is called in its JSON document.
CHOICE = "choice"
# A server may set white space between the parts of a document.
_SPACE = 16


@dataclass(frozen=True)
class Chat:
    """Prompts to an endpoint's chat completions; what was asked before comes from the gateway's store.

    Attributes
    ----------
    endpoint : Endpoint
    study : Study or None
        Who pays; None where nobody needs to (an operator's command).
    purpose : str
        What for, in a word or two; kept with each call.
    sampling : mapping of str to JSON value
        Parameters of the server's own that are sent with each prompt (`top_p`, `seed`, ...). One named as a prompt's
        own replaces it, and an empty one takes it away: some models accept no temperature.
    """

    endpoint: Endpoint
    study: Study | None
    purpose: str
    sampling: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Endpoint and model, with what is sent beside a prompt."""
        more = "".join(f" {key}={value}" for key, value in sorted(self.sampling.items()))
        return f"{self.endpoint.identity} {self.endpoint.model}{more}"

    def generate(self, prompts: Sequence[Prompt]) -> list[Output]:
        """Answer each prompt, in their order; as many at once as the endpoint allows.

        Parameters
        ----------
        prompts : sequence of Prompt
            One with choices is asked for a JSON document that holds one of them, which the server is made to keep to
            or the gateway asks again for, five times at most; `max_tokens` is raised to what the document needs.

        Returns
        -------
        list of Output
            Costs are in minor units of the endpoint's currency, and 0 for what is stored. An answer of nothing is an
            empty text without an error; a refusal and a prompt that the server rejects are errors.

        Raises
        ------
        crowdrag.llm.domain.forecasts.UnansweredError
            If the server failed for now: what it answered until then is stored, and a run's unit is tried again.
        crowdrag.llm.domain.gateway.GatewayError
            If nothing may be asked (no budget, not allowed, a message that no server takes).
        """
        asked = gateway.Made(prompts, self.request)
        answers = gateway.complete_many(endpoint=self.endpoint, requests=asked, study=self.study, purpose=self.purpose)
        forecasts.check_answered(self.endpoint, answers)
        return [_output(prompt, answer) for prompt, answer in zip(prompts, answers, strict=True)]

    def request(self, prompt: Prompt) -> gateway.Request:
        """Return what the gateway is asked for a prompt: also for its estimate."""
        limit, schema = prompt.max_tokens, None
        if prompt.choices:
            schema = _schema(prompt.choices)
            limit = max(prompt.max_tokens, *map(_longest, prompt.choices))
        parameters = {"temperature": prompt.temperature, "max_tokens": limit, **self.sampling}
        parameters = {key: value for key, value in parameters.items() if value != ""}
        messages = [{"role": message.role, "content": message.content} for message in prompt.messages]
        return gateway.Request(messages, parameters=parameters, schema=schema, sample=prompt.sample)

    def likelihoods(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> Floats:
        """Chat completions say how likely what they wrote was, not what they are handed.

        Raises
        ------
        NoLikelihoodsError
            Always.
        """
        raise NoLikelihoodsError(
            f"{self.endpoint} cannot say how likely a given text is: chat completions score only what they write "
            "themselves. Take a model in this process (“model:NAME”) for what needs likelihoods."
        )


def _schema(choices: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {CHOICE: {"enum": list(choices)}},
        "required": [CHOICE],
        "additionalProperties": False,
    }


def _longest(choice: str) -> int:
    """Tokens that its document has at most: one a byte."""
    return len(json.dumps({CHOICE: choice}).encode()) + _SPACE


def _output(prompt: Prompt, answer: gateway.Answer) -> Output:
    text, error = answer.text or "", answer.error
    if answer.refusal is not None:
        text, error = "", _("The model refused: %s") % answer.refusal
    elif error:
        text = ""
    elif prompt.choices:
        text = answer.data[CHOICE]
    return Output(
        text,
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        cost=0.0 if answer.cached else float(answer.cost),
        is_stored=answer.cached,
        error=error,
    )
