import Foundation
import Switchyard

@testable import yard

extension TrafficStory {
    /// A known script: the first of two servers hangs and recovers.
    ///
    /// It hangs at 1 s, is detected at 1.5 s, responds to probes from 3.5 s on, and is in use again at 5 s. Of 18 calls
    /// one fails and five are hedged.
    static func hang(names: [String] = ["primary", "secondary"]) -> TrafficStory {
        let (first, second) = (names[0], names[1])
        let before = (0..<10).map { call(at: Double($0) / 10, Double($0 + 1), first) }
        let hanging = (0..<5).map { call(at: 1 + Double($0) / 10, 100, second, .hedged) }
        let failed = [call(at: 1.45, 2_000, first, .direct, "timeout")]
        let after = [call(at: 2, 2, second), call(at: 5.5, 3, first)]
        return TrafficStory(
            title: "a test",
            servers: names,
            origin: MonotonicTime(seconds: 100),
            notes: TrafficRecorder.Content(
                calls: (before + hanging + failed + after).shuffled(),
                events: events(first, second)
            )
        )
    }

    /// The same calls without a fault: the first server responds to all of them.
    static var calm: TrafficStory {
        var story = hang()
        story.notes = TrafficRecorder.Content(calls: (0..<10).map { call(at: Double($0), Double($0 + 1), "primary") })
        return story
    }

    private static func call(
        at start: Double,
        _ milliseconds: Double,
        _ server: String,
        _ way: CallWay = .direct,
        _ failure: String? = nil
    ) -> RecordedCall {
        RecordedCall(
            start: MonotonicTime(seconds: 100 + start),
            wait: .milliseconds(milliseconds),
            server: server,
            way: way,
            failure: failure
        )
    }

    private static func events(_ first: String, _ second: String) -> [SwitchEvent] {
        let figures = HealthStatistics(requests: 16, failures: 6, lastFailure: .overtaken)
        let events: [(Double, SwitchEvent.Kind)] = [
            (1.5, .ejected(first, generation: 1, cause: .lateness)),
            (1.5, .switched(from: first, to: second, cause: .lateness)),
            (2.5, .probed(first, succeeded: false)),
            (3.5, .probed(first, succeeded: true)),
            (4, .probed(first, succeeded: true)),
            (4, .trialStarted(first, after: .milliseconds(500))),
            (5, .recovered(first, outage: .milliseconds(3_500))),
            (5, .switched(from: second, to: first, cause: .recovered)),
        ]
        return events.map { SwitchEvent(at: MonotonicTime(seconds: 100 + $0.0), $0.1, statistics: figures) }
    }
}
