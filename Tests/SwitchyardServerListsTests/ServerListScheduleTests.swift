import SwitchyardServices
import Testing

@testable import SwitchyardServerLists

@Suite struct ServerListScheduleTests {
    private let options = ServerList.Options()

    @Test func `the first server list fetches of many clients are spread over the start delay`() {
        let times = (0..<1_000).map { seed -> Double in
            var random = RandomSource(seed: UInt64(seed))
            return ServerListSchedule(options, at: .zero, &random).due.seconds
        }

        #expect(times.allSatisfy { (0...30).contains($0) })
        #expect((0..<10).allSatisfy { part in times.count { Int($0 / 3) == part } > 50 })
    }

    @Test func `the next fetch of a server list follows after six to ten hours`() {
        var random = RandomSource(seed: 1)
        var schedule = ServerListSchedule(options, at: .zero, &random)
        var times: [Double] = []

        for _ in 0..<1_000 {
            let now = schedule.due
            schedule.begin(at: now, &random)
            times.append(now.duration(to: schedule.due) / .seconds(3_600))
        }

        #expect(times.allSatisfy { (6...10).contains($0) })
        #expect(times.min()! < 6.1 && times.max()! > 9.9)
        #expect(abs(times.reduce(0, +) / 1_000 - 8) < 0.2)
    }

    @Test func `if a server list is requested before the first fetch, the fetch is due immediately`() {
        var random = RandomSource(seed: 1)
        var schedule = ServerListSchedule(options, at: .zero, &random)

        schedule.request(at: .zero)

        #expect(schedule.due == .zero)
    }

    @Test func `a request for a server list does not delay the next scheduled fetch`() {
        var options = ServerList.Options()
        options.interval = .seconds(60)
        options.minimumPause = .seconds(300)
        var random = RandomSource(seed: 1)
        var schedule = ServerListSchedule(options, at: .zero, &random)
        schedule.begin(at: .zero, &random)
        let due = schedule.due

        schedule.request(at: MonotonicTime.zero.advanced(by: .seconds(1)))

        #expect(schedule.due == due)
    }

    @Test func `requests for a server list within a minute after a fetch cause one fetch at the end of the minute`() {
        var random = RandomSource(seed: 1)
        var schedule = ServerListSchedule(options, at: .zero, &random)
        schedule.begin(at: .zero, &random)

        for second in [0, 1, 30, 59] { schedule.request(at: MonotonicTime.zero.advanced(by: .seconds(second))) }
        #expect(schedule.due == MonotonicTime.zero.advanced(by: .seconds(60)))

        schedule.request(at: MonotonicTime.zero.advanced(by: .seconds(50)))
        #expect(schedule.due == MonotonicTime.zero.advanced(by: .seconds(60)))
    }
}

extension MonotonicTime {
    fileprivate var seconds: Double { MonotonicTime.zero.duration(to: self) / .seconds(1) }
}
