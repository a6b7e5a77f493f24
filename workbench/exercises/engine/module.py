"""Exercises whose answer is a class of modules: `module(…)`; each object that is made of it is judged as a function.

Why not compare two modules? Each starts with random weights. So the weights are handed over with every call, as
arguments beside the inputs: whatever then differs is the learner's doing, and gradients reach the weights, too.
"""

import inspect
from dataclasses import dataclass

import torch
from torch import nn

from .exercise import register
from .function import Function, shown_arg
from .outcome import refuse_not_callable


def module(id, reference, *, as_, parameters, **settings):
    """An exercise that asks for a class whose objects compute what those of `reference` do.

    as_ is how an object is made, "MyAttention(embed_dim, num_heads)". A probe holds the arguments for that, then a
    tensor for each of `parameters`, then the arguments of `forward`. Settings are otherwise those of `function`.
    """
    return register(Module(id=id, reference=reference, asks=as_, parameters=parameters, **settings))


@dataclass(eq=False, kw_only=True)
class Module(Function):
    """Right if objects of it, given these weights, have the results of the reference's."""

    parameters: tuple  # the names that all of its parameters must have: "q_proj.weight"
    forward: str  # the arguments of a call: "query, key, value, mask=None"
    courses: tuple = ()  # other classes of the course's that would be the answer

    def __post_init__(self):
        self.as_class = self.reference
        self.shows = self.shows or (self.as_class,)
        self.reference = self.as_function(self.as_class)
        super().__post_init__()

    @property
    def answer(self):
        return self.as_class

    def names_in_the_course(self):
        return {f"{one.__name__}.forward" for one in (self.as_class, *self.courses)} | {*self.also_called}

    def argument_names(self):
        inputs = [part.split("=")[0].strip() for part in self.forward.split(",")]
        return [*super().argument_names(), *(f"`{name}`" for name in self.parameters), *inputs]

    def call_in_words(self, trial):
        makes = len(super().argument_names())
        inputs = list(zip(self.argument_names(), trial.args, strict=True))[makes + len(self.parameters) :]
        inputs_in_words = ", ".join(shown_arg(name, arg, self) for name, arg in inputs)
        return f"{self.asks.split('(')[0]}({', '.join(map(str, trial.args[:makes]))})({inputs_in_words})"

    def raised_in_words(self, call, text):
        kind, _, why = text.partition(": ")
        if kind != CannotTakeWeights.__name__:
            return super().raised_in_words(call, text)
        return f"`check` gives it weights of its own choice, which it cannot take: {why}."

    def judge(self, answer):
        if isinstance(answer, type):
            return super().judge(self.as_function(answer))
        if not self._takes_weights(answer):
            return self.wrong(refuse_not_callable(self.asks.split("(")[0], answer, "a class"))
        return super().judge(answer)

    def _takes_weights(self, answer):
        """Whether a function takes the arguments of a probe, as a class does that runs elsewhere."""
        if not callable(answer) or isinstance(answer, nn.Module):
            return False
        try:
            inspect.signature(answer).bind(*self.probes[0])
        except (TypeError, ValueError):
            return False
        return True

    def as_function(self, made_of):
        """A class as a function of sizes, weights and inputs."""
        if made_of is self.as_class and self.reference is not made_of:
            return self.reference
        makes = len(super().argument_names())

        def call(*args):
            weights = dict(zip(self.parameters, args[makes:], strict=False))
            inputs = args[makes + len(weights) :]
            while inputs and inputs[-1] is None:  # what is not given has to be the default
                inputs = inputs[:-1]
            instance = made_of(*args[:makes])
            refuse_unless_it_takes(instance, weights)
            return torch.func.functional_call(instance, weights, inputs)

        if inspect.isfunction(forward := vars(made_of).get("forward")):
            call.__wrapped__ = forward  # where the learner has written
            call.__signature__ = inspect.Signature([inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)])
        return call


# ------------------------------------------------------------------------------------- objects that take no weights


class CannotTakeWeights(Exception):
    """The object has other parameters than those asked for. The words are the same for all with the same mistake."""


NO_MODULE = "what is made is no nn.Module"
NOT_REGISTERED = "a layer or a parameter is there, but `parameters()` does not list it"
NO_BIASES = "the weights are there, their biases are not"
NO_OUTPUT_PROJECTION = "there is no out_proj"
ONE_FOR_SEVERAL = "one parameter stands under several names"
OTHER_SIZE = "a parameter has another size than asked for"


def refuse_unless_it_takes(instance, weights):
    """Raise CannotTakeWeights unless the object has parameters of just these names and sizes."""
    if not isinstance(instance, nn.Module):
        raise CannotTakeWeights(NO_MODULE)
    own = dict(instance.named_parameters(remove_duplicate=False)) | dict(instance.named_buffers())
    missing = [name for name in weights if name not in own]
    if missing:
        raise CannotTakeWeights(_why_missing(instance, missing, own))
    if more := [name for name in own if name not in weights]:
        raise CannotTakeWeights(f"there are parameters or buffers that nobody asked for: {_in_words(more)}")
    if any(own[name].shape != weight.shape for name, weight in weights.items()):
        raise CannotTakeWeights(OTHER_SIZE)
    if len({id(parameter) for parameter in own.values()}) < len(own):
        raise CannotTakeWeights(ONE_FOR_SEVERAL)


def _why_missing(instance, missing, own):
    layers = {name.partition(".")[0] for name in missing}
    if all(hasattr(instance, layer) and not isinstance(getattr(instance, layer), nn.Module) for layer in layers):
        return NOT_REGISTERED
    if all(name.endswith(".bias") and f"{name.removesuffix('.bias')}.weight" in own for name in missing):
        return NO_BIASES
    if layers == {"out_proj"} and not hasattr(instance, "out_proj"):
        return NO_OUTPUT_PROJECTION
    has = f"it has {_in_words(own)}" if own else "it has no parameters"
    return f"{_in_words(missing)} {'is' if len(missing) == 1 else 'are'} missing, and {has}"


def _in_words(names):
    names = list(names)
    return ", ".join(names[:8]) + ", …" * (len(names) > 8)
