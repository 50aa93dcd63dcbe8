# SPDX-License-Identifier: GPL-2.0-or-later
"""What filters are called for, as filters.py sees it: {case: (callbacks in their order, {filter.kind:side: bytes})}.

"FB.head:q" is head of the request, of filter F, then of B. A name in capitals is a step of the stream: "<X" before it,
">X" behind it, "X" both. Made by filters.py --learn; the same of both programs."""

TRACES = {
    "GET": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=be F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.HTTP_INNER:q FB.head:q FB.end:q
        FBB.begin:s FB.WAIT_HTTP:s FB.HTTP_PROCESS_FE/BE:s FB.head:s FB.end:s FB.finish:q FB.finish:s B.detach
        F.stream_stop F.detach
    """, {"B.http:s": 5, "F.http:s": 5}),
    "POST with a length": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=be F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.HTTP_INNER:q FB.head:q FB.end:q
        FBB.begin:s FB.WAIT_HTTP:s FB.HTTP_PROCESS_FE/BE:s FB.head:s FB.end:s FB.finish:q FB.finish:s B.detach
        F.stream_stop F.detach
    """, {"B.http:q": 5, "B.http:s": 5, "F.http:q": 5, "F.http:s": 5}),
    "POST in chunks, with trailers both ways": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=be F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.HTTP_INNER:q FB.head:q FB.end:q
        FBB.begin:s FB.WAIT_HTTP:s FB.HTTP_PROCESS_FE/BE:s FB.head:s FB.end:s FB.finish:q FB.finish:s B.detach
        F.stream_stop F.detach
    """, {"B.http:q": 13, "B.http:s": 16, "F.http:q": 13, "F.http:s": 16}),
    "HEAD": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=be F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.HTTP_INNER:q FB.head:q FB.end:q
        FBB.begin:s FB.WAIT_HTTP:s FB.HTTP_PROCESS_FE/BE:s FB.head:s FB.end:s FB.finish:q FB.finish:s B.detach
        F.stream_stop F.detach
    """, {}),
    "304": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=be F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.HTTP_INNER:q FB.head:q FB.end:q
        FBB.begin:s FB.WAIT_HTTP:s FB.HTTP_PROCESS_FE/BE:s FB.head:s FB.end:s FB.finish:q FB.finish:s B.detach
        F.stream_stop F.detach
    """, {}),
    "100-continue": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=be F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.HTTP_INNER:q FB.head:q FBB.begin:s
        FB.<WAIT_HTTP:s FB.reset:s FB.end:q FB.>WAIT_HTTP:s FB.HTTP_PROCESS_FE/BE:s FB.head:s FB.end:s
        FB.finish:q FB.finish:s B.detach F.stream_stop F.detach
    """, {"B.http:q": 5, "B.http:s": 5, "F.http:q": 5, "F.http:s": 5}),
    "an early hint": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=be F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.HTTP_INNER:q FB.head:q FB.end:q
        FBB.begin:s FB.<WAIT_HTTP:s FB.reset:s FB.>WAIT_HTTP:s FB.HTTP_PROCESS_FE/BE:s FB.head:s FB.end:s
        FB.finish:q FB.finish:s B.detach F.stream_stop F.detach
    """, {"B.http:s": 5, "F.http:s": 5}),
    "two at once": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=be F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.HTTP_INNER:q FB.head:q FB.end:q
        FBB.begin:s FB.WAIT_HTTP:s FB.HTTP_PROCESS_FE/BE:s FB.head:s FB.end:s FB.finish:q FB.finish:s B.detach
        F.stream_stop F.detach F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q
        F.<SWITCHING_RULES:q B.attach FB.backend=be F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q
        FB.HTTP_INNER:q FB.head:q FB.end:q FBB.begin:s FB.WAIT_HTTP:s FB.HTTP_PROCESS_FE/BE:s FB.head:s FB.end:s
        FB.finish:q FB.finish:s B.detach F.stream_stop F.detach
    """, {"B.http:s": 10, "F.http:s": 10}),
    "CONNECT": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=be F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.HTTP_INNER:q FB.head:q FB.end:q
        FBB.begin:s FB.WAIT_HTTP:s FB.HTTP_PROCESS_FE/BE:s FB.head:s FB.end:s FB.finish:q FB.finish:s B.detach
        F.stream_stop F.detach
    """, {"B.tcp:q": 6, "B.tcp:s": 6, "F.tcp:q": 6, "F.tcp:s": 6}),
    "an upgrade": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=be F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.HTTP_INNER:q FB.head:q FB.end:q
        FBB.begin:s FB.WAIT_HTTP:s FB.HTTP_PROCESS_FE/BE:s FB.head:s FB.end:s FB.finish:q FB.finish:s B.detach
        F.stream_stop F.detach
    """, {"B.tcp:q": 6, "B.tcp:s": 6, "F.tcp:q": 6, "F.tcp:s": 6}),
    "return": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.<HTTP_PROCESS_FE:q F.finish:q F.stream_stop F.detach
    """, {}),
    "redirect": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.<HTTP_PROCESS_FE:q F.finish:q F.stream_stop F.detach
    """, {}),
    "deny": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.<HTTP_PROCESS_FE:q F.finish:q F.stream_stop F.detach
    """, {}),
    "tarpit": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<HTTP_TARPIT:q F.finish:q
        F.stream_stop F.detach
    """, {}),
    "monitor-uri": ("""
        F.attach F.stream_start F.begin:q F.<WAIT_HTTP:q F.finish:q F.stream_stop F.detach
    """, {}),
    "the statistics page": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=stats F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.head:q FB.end:q FBB.begin:s
        FB.WAIT_HTTP:s FB.HTTP_PROCESS_FE/BE:s FB.head:s FB.end:s B.detach F.stream_stop F.detach
    """, {}),
    "no server": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=none F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.HTTP_INNER:q FB.head:q FB.end:q
        FB.finish:q FB.finish:s B.detach F.stream_stop F.detach
    """, {}),
    "a bad request": ("""

    """, {}),
    "rules": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=rules F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.SRV_RULES:q FB.HTTP_INNER:q
        FB.head:q FB.end:q FBB.begin:s FB.INSPECT:s FB.WAIT_HTTP:s FB.HTTP_PROCESS_FE/BE:s FB.head:s FB.end:s
        FB.finish:q FB.finish:s B.detach F.stream_stop F.detach
    """, {"B.http:s": 5, "F.http:s": 5}),
    "deny of the answer": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=rules F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.SRV_RULES:q FB.HTTP_INNER:q
        FB.head:q FB.end:q FBB.begin:s FB.INSPECT:s FB.WAIT_HTTP:s FB.<HTTP_PROCESS_FE/BE:s FB.finish:q
        FB.finish:s B.detach F.stream_stop F.detach
    """, {}),
    "return instead of the answer": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=rules F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.SRV_RULES:q FB.HTTP_INNER:q
        FB.head:q FB.end:q FBB.begin:s FB.INSPECT:s FB.WAIT_HTTP:s FB.<HTTP_PROCESS_FE/BE:s FB.finish:q
        FB.finish:s B.detach F.stream_stop F.detach
    """, {}),
    "sent again": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=retry F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.HTTP_INNER:q FB.head:q FB.end:q
        FBB.begin:s FB.<WAIT_HTTP:s FBB.begin:s FB.WAIT_HTTP:s FB.HTTP_PROCESS_FE/BE:s FB.head:s FB.end:s
        FB.finish:q FB.finish:s B.detach F.stream_stop F.detach
    """, {"B.http:q": 5, "F.http:q": 5}),
    "rejected by the backend": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=reject F.>SWITCHING_RULES:q B.begin:q FB.<INSPECT_BE:q FB.finish:q FB.finish:s B.detach
        F.stream_stop F.detach
    """, {}),
    "the body first": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=body F.>SWITCHING_RULES:q F.HTTP_BODY:q B.begin:q FB.HTTP_PROCESS_BE:q FB.HTTP_INNER:q
        FB.head:q FB.end:q FBB.begin:s FB.WAIT_HTTP:s FB.HTTP_PROCESS_FE/BE:s FB.head:s FB.end:s FB.finish:q
        FB.finish:s B.detach F.stream_stop F.detach
    """, {"B.http:q": 5, "B.http:s": 5, "F.http:q": 5, "F.http:s": 5}),
    "no connection": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=refused F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.HTTP_INNER:q FB.head:q
        FB.end:q FB.finish:q FB.finish:s B.detach F.stream_stop F.detach
    """, {}),
    "no connection, a body": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=refused F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.HTTP_INNER:q FB.head:q
        FB.end:q FB.finish:q FB.finish:s B.detach F.stream_stop F.detach
    """, {"B.http:q": 5, "F.http:q": 5}),
    "an answer that is cut": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=be F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.HTTP_INNER:q FB.head:q FB.end:q
        FBB.begin:s FB.WAIT_HTTP:s FB.HTTP_PROCESS_FE/BE:s FB.head:s FB.finish:s FB.finish:q B.detach
        F.stream_stop F.detach
    """, {"B.http:s": 5, "F.http:s": 5}),
    "no answer": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=be F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.HTTP_INNER:q FB.head:q FB.end:q
        FBB.begin:s FB.<WAIT_HTTP:s FB.finish:q FB.finish:s B.detach F.stream_stop F.detach
    """, {"B.http:q": 5, "F.http:q": 5}),
    "no answer that can be read": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=be F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.HTTP_INNER:q FB.head:q FB.end:q
        FBB.begin:s FB.<WAIT_HTTP:s FB.finish:q FB.finish:s B.detach F.stream_stop F.detach
    """, {}),
    "deny in the backend": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=inner F.>SWITCHING_RULES:q B.begin:q FB.<HTTP_PROCESS_BE:q FB.finish:q FB.finish:s B.detach
        F.stream_stop F.detach
    """, {}),
    "redirect in the backend": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=inner F.>SWITCHING_RULES:q B.begin:q FB.<HTTP_PROCESS_BE:q FB.finish:q FB.finish:s B.detach
        F.stream_stop F.detach
    """, {}),
    "return in the backend": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=inner F.>SWITCHING_RULES:q B.begin:q FB.<HTTP_PROCESS_BE:q FB.finish:q FB.finish:s B.detach
        F.stream_stop F.detach
    """, {}),
    "auth in the backend": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=inner F.>SWITCHING_RULES:q B.begin:q FB.<HTTP_PROCESS_BE:q FB.finish:q FB.finish:s B.detach
        F.stream_stop F.detach
    """, {}),
    "tarpit in the backend": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=inner F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.<HTTP_TARPIT:q FB.finish:q
        FB.finish:s B.detach F.stream_stop F.detach
    """, {}),
    "a rule that waits for the body": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=inner F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.HTTP_INNER:q FB.head:q FB.end:q
        FBB.begin:s FB.WAIT_HTTP:s FB.HTTP_PROCESS_FE/BE:s FB.head:s FB.end:s FB.finish:q FB.finish:s B.detach
        F.stream_stop F.detach
    """, {"B.http:q": 5, "B.http:s": 5, "F.http:q": 5, "F.http:s": 5}),
    "a client that leaves within its body": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=be F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.HTTP_INNER:q FB.head:q FBB.begin:s
        FB.<WAIT_HTTP:s FB.finish:s FB.finish:q B.detach F.stream_stop F.detach
    """, {"B.http:q": 5, "F.http:q": 5}),
    "a client that leaves within its head": ("""

    """, {}),
    "no server, with a body": ("""
        F.attach F.stream_start F.begin:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q B.attach
        FB.backend=none F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.HTTP_INNER:q FB.head:q FB.end:q
        FB.finish:q FB.finish:s B.detach F.stream_stop F.detach
    """, {"B.http:q": 5, "F.http:q": 5}),
    "a proxy alone": ("""
        L.attach L.stream_start L.begin:q L.WAIT_HTTP:q L.HTTP_PROCESS_FE:q L.<SWITCHING_RULES:q L.backend=alone
        L.>SWITCHING_RULES:q L.HTTP_INNER:q L.head:q L.end:q L.begin:s L.WAIT_HTTP:s L.HTTP_PROCESS_FE/BE:s
        L.head:s L.end:s L.finish:q L.finish:s L.stream_stop L.detach
    """, {"L.http:s": 5}),
    "return of a proxy alone": ("""
        L.attach L.stream_start L.begin:q L.WAIT_HTTP:q L.<HTTP_PROCESS_FE:q L.finish:q L.stream_stop L.detach
    """, {}),
    "the statistics page of a proxy alone": ("""
        L.attach L.stream_start L.begin:q L.WAIT_HTTP:q L.HTTP_PROCESS_FE:q L.head:q L.end:q L.begin:s
        L.WAIT_HTTP:s L.HTTP_PROCESS_FE/BE:s L.head:s L.end:s L.stream_stop L.detach
    """, {}),
    "of the backend only": ("""
        B.attach B.backend=be B.begin:q B.HTTP_PROCESS_BE:q B.HTTP_INNER:q B.head:q B.end:q B.begin:s
        B.WAIT_HTTP:s B.HTTP_PROCESS_FE/BE:s B.head:s B.end:s B.finish:q B.finish:s B.detach
    """, {"B.http:s": 5}),
    "of a backend without servers": ("""
        B.attach B.backend=none B.begin:q B.HTTP_PROCESS_BE:q B.HTTP_INNER:q B.head:q B.end:q B.finish:q
        B.finish:s B.detach
    """, {}),
    "two of a frontend": ("""
        FG.attach FG.stream_start FG.begin:q FG.WAIT_HTTP:q FG.HTTP_PROCESS_FE:q FG.<SWITCHING_RULES:q
        FG.backend=plainbe FG.>SWITCHING_RULES:q FG.HTTP_PROCESS_BE:q FG.HTTP_INNER:q FG.head:q FG.end:q
        FG.begin:s FG.WAIT_HTTP:s FG.HTTP_PROCESS_FE/BE:s FG.head:s FG.end:s FG.finish:q FG.finish:s
        FG.stream_stop FG.detach
    """, {"F.http:s": 5, "G.http:s": 5}),
    "TCP": ("""
        T.attach T.stream_start T.begin:q T.<SWITCHING_RULES:q T.backend=tcp T.>SWITCHING_RULES:q T.begin:s
        T.finish:q T.finish:s T.stream_stop T.detach
    """, {"T.tcp:q": 28, "T.tcp:s": 43}),
    "TCP that is looked at": ("""
        T.attach T.stream_start T.begin:q T.INSPECT_FE:q T.<SWITCHING_RULES:q T.backend=inspect
        T.>SWITCHING_RULES:q T.begin:s T.finish:q T.finish:s T.stream_stop T.detach
    """, {"T.tcp:q": 28, "T.tcp:s": 43}),
    "TCP that becomes HTTP": ("""
        F.attach F.stream_start F.begin:q F.INSPECT_FE:q F.WAIT_HTTP:q F.HTTP_PROCESS_FE:q F.<SWITCHING_RULES:q
        B.attach FB.backend=be F.>SWITCHING_RULES:q B.begin:q FB.HTTP_PROCESS_BE:q FB.HTTP_INNER:q FB.head:q
        FB.end:q FBB.begin:s FB.WAIT_HTTP:s FB.HTTP_PROCESS_FE/BE:s FB.head:s FB.end:s FB.finish:q FB.finish:s
        B.detach F.stream_stop F.detach
    """, {"B.http:s": 5, "F.http:s": 5}),
}
