import Testing

@testable import SwitchyardServices

@Suite struct EventDescriptionTests {
    private static let figures = HealthStatistics(requests: 40, failures: 3, lastFailure: .refused)

    @Test(arguments: [
        (
            SwitchEvent.Kind.switched(from: "primary", to: "secondary", cause: .consecutiveFailures),
            "switched from primary to secondary (failures in a row)"
        ),
        (
            .ejected("primary", generation: 2, cause: .score),
            "ejected primary (failure score), 3 of 40 requests failed, the last one refused"
        ),
        (.probed("primary", succeeded: true), "probed primary, which responded"),
        (.probed("primary", succeeded: false), "probed primary, which failed"),
        (.trialStarted("primary", after: .milliseconds(1_500)), "the recovery trial of primary begins in 1.50 s"),
        (.recovered("primary", outage: .nanoseconds(4_812_345_678)), "primary recovered after an outage of 4.81 s"),
        (.environmentChanged(from: .test, to: .release), "environment changed from test to release"),
        (.pushed(PushCommand(version: 1, mode: .prefer, server: "b")), "pushed command: prefer b"),
        (.pushed(PushCommand(version: 2, mode: .clear, server: "b")), "pushed command: clear"),
    ])
    func `the description of a switching event is one short line`(_ kind: SwitchEvent.Kind, _ text: String) {
        let event = SwitchEvent(at: .zero, kind, statistics: Self.figures)

        #expect("\(event)" == text)
        #expect("\(event.kind)" == text.replacing(", 3 of 40 requests failed, the last one refused", with: ""))
    }

    @Test func `a switching event with the longest possible duration has a description`() {
        let event = SwitchEvent(at: .zero, .recovered("a", outage: .seconds(Int64.max)))

        #expect("\(event)" == "a recovered after an outage of 1000000000000.00 s")
    }

    @Test func `the description of a server's state is one short line`() throws {
        let service = try Service(
            name: "topics",
            servers: [
                Server(name: "primary", baseURLs: [.test: ServerURL("http://127.0.0.1:1")]),
                Server(name: "secondary", baseURLs: [.test: ServerURL("http://127.0.0.1:2")]),
            ],
            defaultEnvironment: .test
        )
        var core = try SwitchingCore(service: service, environment: .test, at: .zero, seed: 1)
        let snapshots = core.snapshot(at: .zero)

        #expect(snapshots.map { "\($0)" } == ["primary: healthy, current", "secondary: healthy"])

        var snapshot = snapshots[0]
        snapshot.isCurrent = false
        snapshot.state = .ejected
        snapshot.statistics = Self.figures
        snapshot.p50 = .nanoseconds(12_345_678)
        snapshot.nextProbe = .milliseconds(750)
        let text = "primary: ejected, 3 of 40 requests failed, p50 12 ms, next probe in 750 ms"
        #expect("\(snapshot)" == text)
        _ = core.settle([], at: .zero)
    }

    @Test func `the description of a server's state includes the failures that do not count`() throws {
        let driver = try CoreDriver(["a", "b"])
        driver.requests(3, .refused)

        #expect(
            "\(driver.core.snapshot(at: driver.now)[0])"
                == "a: healthy, current, 3 of 3 requests failed (failures that do not count: 3)"
        )

        driver.requests(1, .ok)

        let text = "\(driver.core.snapshot(at: driver.now)[0])"
        #expect(text.hasPrefix("a: healthy, current, 3 of 4 requests failed (failures that do not count: 3), p50 "))
    }

    @Test func `failures that do not count against a server leave its outcome window when they are too old`() throws {
        let driver = try CoreDriver(["a", "b"])
        driver.requests(2, .refused, gap: 1)

        driver.advance(59)
        #expect(
            "\(driver.core.snapshot(at: driver.now)[0])"
                == "a: healthy, current, 1 of 1 requests failed (failures that do not count: 1)"
        )
        driver.advance(1)
        #expect("\(driver.core.snapshot(at: driver.now)[0])" == "a: healthy, current")
    }
}
