"""Make a hitting set problem smaller without changing the size of its solution.

A set with one element forces that element.  A set that contains another is hit with it.  An element can be left out if
another is in all of its sets.  What is left falls into components that share no element.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence


class Reduced:
    """A hitting set problem after all reductions: ``forced`` elements and what is left.

    Of two elements in the same sets the one with the lower number stays.
    """

    def __init__(self, sets: Sequence[Collection[int]]) -> None:
        self.sets: dict[int, set[int]] = {number: set(content) for number, content in enumerate(sets)}
        self.places: dict[int, set[int]] = {}
        """The sets that each element is in."""
        for number, content in self.sets.items():
            for element in content:
                self.places.setdefault(element, set()).add(number)
        self.forced: list[int] = []
        self._reduce()

    def components(self) -> list[list[int]]:
        """The sets that are left, as components by their lowest number."""
        left = set(self.sets)
        found = []
        for number in sorted(self.sets):
            if number not in left:
                continue
            left.discard(number)
            members, stack = [], [number]
            while stack:
                current = stack.pop()
                members.append(current)
                near = {place for element in self.sets[current] for place in self.places[element]} & left
                left -= near
                stack.extend(near)
            found.append(sorted(members))
        return found

    def _reduce(self) -> None:
        """Apply all reductions until none applies.

        Only a set that lost elements can force one or be contained in others, and only an element that lost sets can
        have become superfluous; in the beginning that may be all of them.
        """
        elements, numbers = set(self.places), set(self.sets)
        while elements or numbers:
            numbers |= self._drop_elements(sorted(elements, key=lambda element: (len(self.places[element]), -element)))
            elements = self._force(sorted(numbers))
            remaining = numbers & self.sets.keys()
            elements |= self._drop_supersets(sorted(remaining, key=lambda number: (len(self.sets[number]), number)))
            elements &= self.places.keys()
            numbers = set()

    def _drop_elements(self, elements: Iterable[int]) -> set[int]:
        """Drop those of the elements that another makes superfluous; the sets that have changed."""
        changed: set[int] = set()
        for element in elements:
            places = self.places[element]
            rarest = min(places, key=lambda number: len(self.sets[number]))
            if any(self._superseded(element, places, other) for other in self.sets[rarest]):
                for number in places:
                    self.sets[number].discard(element)
                changed |= places
                del self.places[element]
        return changed

    def _superseded(self, element: int, places: set[int], other: int) -> bool:
        if other == element:
            return False
        others = self.places[other]
        return places < others or (other < element and places == others)

    def _force(self, numbers: Iterable[int]) -> set[int]:
        """Choose the elements that are alone in one of the sets; the elements that have lost sets."""
        touched: set[int] = set()
        for number in numbers:
            if number in self.sets and len(self.sets[number]) == 1:
                (element,) = self.sets[number]
                self.forced.append(element)
                for place in tuple(self.places[element]):
                    touched |= self._remove(place)
        return touched

    def _drop_supersets(self, numbers: Iterable[int]) -> set[int]:
        """Drop the sets that contain one of these; the elements that have lost sets."""
        touched: set[int] = set()
        for number in numbers:
            if number not in self.sets:
                continue
            content = self.sets[number]
            rarest = min(content, key=lambda element: len(self.places[element]))
            for other in tuple(self.places[rarest]):
                if other != number and content <= self.sets[other]:
                    touched |= self._remove(other)
        return touched

    def _remove(self, number: int) -> set[int]:
        """Remove a set; the elements that it had and that others still have."""
        content = self.sets.pop(number)
        for element in content:
            self.places[element].discard(number)
            if not self.places[element]:
                del self.places[element]
        return content & self.places.keys()
