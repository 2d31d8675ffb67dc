"""The check for stop words in the text, beside the engine's own check of ids.

It behaves as NVIDIA's was observed to, so it fails where that one does: the words of a row share one prefix, and a word
that does not go on forgets what another had matched; a match begins and ends on a border of chunks; a text that is
cumulative is compared as a whole.
"""


class StopWords:
    def __init__(self, words):
        """`words`: one list of bytes per batch row, or None."""
        self.words = [[word.decode("utf-8") for word in row if word] for row in (words if words is not None else [])]
        self.prefix = {}

    def ends_stream(self, row, text):
        """Whether the stream of this row is over with `text`, which is never cut."""
        prefix = self.prefix.get(row, "")
        for word in self._of(row):
            if not word.startswith(prefix + text):
                prefix = ""
                continue
            prefix += text
            if word == prefix:
                return True
        self.prefix[row] = prefix
        return False

    def cut_whole(self, row, text, start):
        """An answer that comes whole, cut behind the first word of the list found from `start` on; None without one."""
        for word in self._of(row):
            at = text.find(word, start)
            if at >= 0:
                return text[: at + len(word)]
        return None

    def _of(self, row):
        return self.words[row] if row < len(self.words) else []
