"""The one exception of the SDK: bad input or a broken environment, never a finding about a resource."""


class KrmfnError(Exception):
    """What is wrong, where, and what would be right, in one sentence for a person.

    The runner and the command line print it without a traceback. Findings about a resource are
    `krmfn.results.Result` values instead; any other exception is a bug and keeps its traceback.
    """
