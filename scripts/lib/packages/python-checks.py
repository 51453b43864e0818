"""Checks lists and maps before jsii does: its messages have no path, and it takes a tuple for an object."""

import collections.abc
import typing

from jsii._type_checking import check_type as check_with_jsii


def check_type(argname: str, value: object, expected_type: typing.Any) -> None:
    check_items(argname, value, expected_type)
    check_with_jsii(argname=argname, value=value, expected_type=expected_type)


def check_items(name: str, value: object, expected: typing.Any) -> None:
    kind, items = typing.get_origin(expected), typing.get_args(expected)
    if kind is typing.Union and value is not None:
        some = [item for item in items if item is not type(None)]
        if len(some) == 1:
            check_items(name, value, some[0])
    elif kind is collections.abc.Sequence:
        need(list, name, value)
        for index, item in enumerate(value):
            check_item(f"{name}[{index}]", item, items[0])
    elif kind is collections.abc.Mapping:
        need(dict, name, value)
        for key, item in value.items():
            need(str, f"the key {key!r} of {name}", key)
            check_item(f"{name}[{key!r}]", item, items[1])


def check_item(name: str, value: object, expected: typing.Any) -> None:
    if expected is typing.Any:
        if isinstance(value, (tuple, set)):
            need(list, name, value)
    elif isinstance(expected, type):
        need(expected, name, value)
    else:
        check_items(name, value, expected)


def need(kind: type, name: str, value: object) -> None:
    if not isinstance(value, kind):
        got = "None" if value is None else type(value).__name__
        raise TypeError(f"type of {name} must be {kind.__name__}; got {got} instead")
