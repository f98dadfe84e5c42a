import Testing

@testable import SwitchyardInspector

@Suite struct VerdictTests {
    private static func facts(_ change: (inout VerdictFacts) -> Void) -> VerdictFacts {
        var facts = VerdictFacts()
        facts.serverCount = 3
        change(&facts)
        return facts
    }

    @Test(
        arguments: [
            (facts { _ in }, Verdict.Level.none, "No call has ended."),
            (facts { $0.calls = 1 }, .good, "The only call succeeded."),
            (facts { $0.calls = 2_413 }, .good, "All 2,413 calls succeeded."),
            (
                facts { ($0.calls, $0.failedServers) = (2_413, ["a"]) }, .good,
                "Server a failed. All 2,413 calls succeeded."
            ),
            (
                facts { ($0.calls, $0.failedServers) = (2_413, ["a", "b"]) }, .good,
                "Servers a and b failed. All 2,413 calls succeeded."
            ),
            (
                facts { ($0.calls, $0.failedServers) = (2_413, ["a", "b", "c", "d"]) }, .good,
                "Four servers failed. All 2,413 calls succeeded."
            ),
            (
                facts {
                    ($0.calls, $0.failed, $0.failedServers) = (750, 300, ["a", "b", "c"])
                    $0.secondsWithoutServer = 6
                }, .bad, "All servers were down for 6 s. 300 of 750 calls failed."
            ),
            (
                facts { ($0.calls, $0.failed, $0.serverCount, $0.secondsWithoutServer) = (9, 9, 1, 0.42) }, .bad,
                "The server was down for 0.4 s. 9 of 9 calls failed."
            ),
            (
                facts { ($0.calls, $0.failed, $0.failures) = (40, 40, ["http404": 40]) }, .bad,
                "No server failed. 40 of 40 calls failed with a request error: 404 Not Found."
            ),
            (
                facts {
                    ($0.calls, $0.failed, $0.failures) = (9, 3, ["http404": 2, "limited": 1])
                    $0.isStrict = false
                }, .none, "3 of 9 calls failed with a request error."
            ),
            (
                facts { ($0.calls, $0.failedServers, $0.notRecovered) = (600, ["a"], ["a"]) }, .ongoing,
                "Server a failed and had not recovered by the end. All 600 calls succeeded."
            ),
            (
                facts { ($0.calls, $0.failedServers, $0.notRecovered) = (600, ["a", "b"], ["b"]) }, .ongoing,
                "Servers a and b failed, and b had not recovered by the end. All 600 calls succeeded."
            ),
            (
                facts { ($0.calls, $0.slowServers, $0.notRecovered) = (600, ["a"], ["a"]) }, .ongoing,
                "Server a was slow and had not recovered by the end. All 600 calls succeeded."
            ),
            (
                facts { ($0.calls, $0.failed, $0.secondsWithoutServer, $0.wasDownAtEnd) = (9, 5, 6, true) }, .bad,
                "All servers were down for the last 6 s. 5 of 9 calls failed."
            ),
            (facts { ($0.calls, $0.failed, $0.tolerance) = (100, 1, 0.01) }, .good, "1 of 100 calls failed."),
            (facts { ($0.calls, $0.failed, $0.tolerance) = (100, 2, 0.01) }, .bad, "2 of 100 calls failed."),
        ]
    )
    func `the verdict's sentence names the failed servers and counts the failed calls`(
        facts: VerdictFacts,
        level: Verdict.Level,
        text: String
    ) {
        let verdict = Verdict(facts)

        #expect(verdict.headline == text)
        #expect(verdict.level == level)
    }

    @Test func `the verdict counts errors by kind, the most frequent kind first`() {
        let failures = ["refused": 3, "http503": 20, "timeout": 2, "tls": 1, "reset": 1, "dns": 1]
        let verdict = Verdict(Self.facts { ($0.calls, $0.failed, $0.failures) = (30, 28, failures) })

        let named =
            "20 × 503 Service Unavailable, 3 × connection refused, 2 × no response in time, 1 × name not found"
        #expect(verdict.details == ["Errors: \(named), 2 × other."])
    }

    @Test func `the verdict names request errors apart from the failures of servers`() {
        let failures = ["refused": 2, "http404": 1, "http409": 1]
        let verdict = Verdict(Self.facts { ($0.calls, $0.failed, $0.failures) = (9, 4, failures) })

        #expect(verdict.headline == "4 of 9 calls failed.")
        let own = "2 calls failed with a request error: 1 × 404 Not Found, 1 × 409 Conflict."
        #expect(verdict.details == ["Errors: 2 × connection refused.", own])
    }

    @Test func `the verdict states the deadline, and why failed calls went to no other server`() {
        var facts = Self.facts { ($0.calls, $0.failed, $0.failures) = (9, 3, ["timeout": 2, "reset": 1]) }
        (facts.deadline, facts.stops) = (2, ["must not be sent again": 3])

        let errors = "Errors: 2 × no response within 2 s, 1 × connection reset."
        #expect(Verdict(facts).details == [errors, "No further server was tried: 3 × must not be sent again."])
    }

    @Test func `a verdict is amber as long as a server is out of service, even if no call failed`() {
        var facts = Self.facts { ($0.calls, $0.failedServers, $0.outOfService) = (9, ["a"], ["a"]) }
        #expect(Verdict(facts).level == .ongoing)

        facts.outOfService = []
        #expect(Verdict(facts).level == .good)
        facts.hasUntriedServer = true
        #expect(Verdict(facts).level == .ongoing)
        (facts.failed, facts.failures) = (1, ["refused": 1])
        #expect(Verdict(facts).level == .bad)
    }

    @Test func `the verdict's details do not repeat a reason that its headline names`() {
        let verdict = Verdict(Self.facts { ($0.calls, $0.failed, $0.failures) = (40, 40, ["http404": 40]) })

        #expect(verdict.details.isEmpty)
    }

    @Test
    func `without the strict mode, a verdict is good if no call failed because of a server, even after an outage`() {
        var facts = Self.facts { ($0.calls, $0.failed, $0.failures) = (9, 1, ["http404": 1]) }
        facts.failedServers = ["a"]
        #expect(Verdict(facts).level == .bad)

        facts.isStrict = false
        #expect(Verdict(facts).level == .good)
        #expect(Verdict(facts).headline == "Server a failed. One call failed, but for another reason.")
        #expect(Verdict(facts).details == ["1 call failed with a request error: 404 Not Found."])
        facts.failures = ["connectionRefused": 1]
        #expect(Verdict(facts).level == .bad)
        #expect(Verdict(facts).headline == "Server a failed. 1 of 9 calls failed.")
    }

    @Test func `a failed call counts as the fault of a server if the kind of its failure is unknown`() {
        var facts = Self.facts { ($0.calls, $0.failed, $0.failures) = (9, 3, ["http404": 2]) }
        facts.failedServers = ["a"]
        facts.isStrict = false

        #expect(Verdict(facts).level == .bad)
        #expect(Verdict(facts).headline == "Server a failed. 3 of 9 calls failed.")
    }

    @Test func `the verdict counts the calls that a failover or a hedge saved`() {
        let one = "1 call was saved: its first server had failed, but another responded (1 failed over)."
        let many =
            "1,037 calls were saved: their first server had failed, but another responded (7 failed over, 1,030 hedged)."

        let saved = SavedCalls(failedOver: 7, hedged: 1_030)
        #expect(Verdict(Self.facts { ($0.calls, $0.saved) = (9, SavedCalls(failedOver: 1)) }).details == [one])
        #expect(Verdict(Self.facts { ($0.calls, $0.saved) = (2_000, saved) }).details == [many])
    }

    @Test func `the HTML of a verdict escapes the names of servers`() {
        let verdict = Verdict(Self.facts { ($0.calls, $0.failedServers) = (9, ["<b>&\"'"]) })

        #expect(verdict.html.contains("Server &lt;b&gt;&amp;&quot;&#39; failed."))
        #expect(verdict.html.contains("class=\"verdict is-good\""))
    }
}
