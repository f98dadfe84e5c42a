import Foundation
import Switchyard
import SwitchyardInspector
import Testing

@testable import yard

@Suite struct ReportOfFleetTests {
    /// A fleet whose first server is dead from 60 s to 180 s.
    private static let dead = Result { try simulation(FleetPlan(clients: 100, scenario: .deathTight)) }
    /// The report of ``dead``.
    private static let reported = dead.map { Report(of: $0) }

    private static func simulation(_ plan: FleetPlan) throws -> FleetSimulation {
        var simulation = try FleetSimulation(plan)
        simulation.run()
        return simulation
    }

    @Test func `the numbers per second in the report of a simulated fleet add up to its totals`() throws {
        let simulation = try Self.dead.get()
        let fleet = try #require(Self.reported.get().fleet)

        #expect(fleet.requests.reduce(0, +) == simulation.tally.requests)
        #expect(fleet.failures.reduce(0, +) == simulation.tally.failures)
        #expect(fleet.switches.reduce(0, +) == simulation.clients.switches.reduce(0) { $0 + Int($1) })
        #expect(fleet.causes.reduce(0) { $0 + $1.count } == fleet.switches.reduce(0, +))
        #expect(fleet.requests.count == Int(FleetScenario.duration))
    }

    @Test func `the report of a fleet is divided into phases before, during and after the fault`() throws {
        let simulation = try Self.dead.get()
        let phases = try Self.reported.get().phases

        #expect(phases.map(\.name) == [.before, .during, .after, .all])
        #expect(phases[0].calls == simulation.tally.requestsBySecond[..<60].reduce(0, +))
        #expect(phases[0].calls + phases[1].calls + phases[2].calls == phases[3].calls)
        #expect(phases[3].calls == simulation.tally.requests)
        #expect(try (50...200).contains(#require(phases[0].p50)))
    }

    @Test func `a dead server has no capacity, and after its return the capacity grows slowly`() throws {
        let servers = try #require(Self.reported.get().fleet).servers

        #expect(servers[0].capacity[59] == 15)
        #expect(servers[0].capacity[60..<180].allSatisfy { $0 == 0 })
        #expect((5...5.2).contains(servers[0].capacity[180]))
        #expect(servers[0].capacity[419] == 15)
        #expect(servers[1].capacity.allSatisfy { $0 == 7 })
    }

    @Test func `at any time, the fractions of simulated clients that use each server add up to one`() throws {
        let servers = try #require(Self.reported.get().fleet).servers

        #expect(servers[0].clients.first == 1)
        for second in servers[0].clients.indices {
            #expect(abs(servers.reduce(0) { $0 + $1.clients[second] } - 1) < 0.001)
        }
        #expect(try #require(servers[0].clients[60..<180].min()) < 0.2)
    }

    @Test func `the summary of a fleet has its requests, failures, load and recovery`() throws {
        let simulation = try Self.dead.get()
        let numbers = FleetReport(of: simulation, wallSeconds: 0)
        let summary = try Self.reported.get().summary

        let requests = "\(numbers.requests.figure) requests from 100 clients"
        #expect(summary.hasPrefix("Server 1 was dead from 60 s to 180 s; \(requests)"))
        #expect(summary.contains("\(numbers.failures.figure) failed"))
        #expect(numbers.servers.allSatisfy { summary.contains("server \($0.name) \($0.words)") })
        #expect(summary.contains("; after its restart, server 1 received at most"))
    }

    @Test func `the timeline of a fleet has no load of a server that is down`() throws {
        let timeline = FleetTimeline(of: try Self.dead.get())

        let down = timeline.steps.filter { $0.loads[0] == nil }.map(\.second)
        #expect(down == Array(stride(from: 60, to: 180, by: 10)))
        #expect(timeline.table.split(separator: "\n").count { $0.contains("down") } == down.count)
    }

    @Test func `the peak load of a server is not below its load in the timeline`() throws {
        let simulation = try Self.dead.get()
        let peaks = FleetReport(of: simulation, wallSeconds: 0).servers.map(\.peakLoad)

        for step in FleetTimeline(of: simulation).steps where step.second >= 60 {
            #expect(zip(step.loads, peaks).allSatisfy { ($0 ?? 0) <= $1 + 0.001 })
        }
    }

    @Test func `the summary and the figure agree on the final share of clients that prefer the first server`() throws {
        let simulation = try Self.dead.get()
        let share = FleetReport(of: simulation, wallSeconds: 0).shareBackAtEnd

        let figure = try #require(Self.reported.get().fleet?.servers.first?.clients.last)
        #expect(abs(share - figure) < 0.02)
        let words = "at the end, \(share.percent) of the clients preferred server 1"
        #expect(try Self.reported.get().summary.contains(words))
    }

    @Test func `the verdict on a fleet is bad if any request failed, and it states when requests failed`() throws {
        let simulation = try Self.simulation(FleetPlan(clients: 300, scenario: .hang))
        let verdict = Report(of: simulation).verdict
        let failures = simulation.tally.failuresBySecond
        let during = failures[60..<180].reduce(0, +)

        #expect((1...simulation.tally.requests / 100).contains(simulation.tally.failures))
        #expect(verdict.level == .bad)
        let others = simulation.tally.failures - during
        let when =
            others == 0
            ? "all during the failure" : "\(during.figure) during the failure and \(others.figure) afterwards"
        #expect(verdict.headline.hasSuffix(", \(during == 0 ? "all afterwards" : when)."))
        #expect(simulation.tally.failuresByKind.values.reduce(0, +) == simulation.tally.failures)
        let timeouts = try #require(simulation.tally.failuresByKind["timeout"])
        #expect(verdict.details.first?.contains("\(timeouts.figure) × no response within 2 s") == true)
    }

    @Test func `the comparison with clients without switching states when and why their requests fail`() throws {
        let off = FleetReport(of: try Self.simulation(FleetPlan(clients: 100, policy: .off)), wallSeconds: 0)
        let on = try Self.simulation(FleetPlan(clients: 100))
        let report = FleetReport(of: on, withoutSwitching: off, wallSeconds: 0)

        let failures = try #require(off.failuresByTime)
        #expect(failures.during > 0 && failures.after > 0)
        #expect(failures.before + failures.during + failures.after == off.failures)
        let (early, after) = ((failures.before + failures.during).figure, failures.after.figure)
        let parts = "\(early) until the failure ended, and \(after) afterwards, because"
        let cause = "server 1 restarted with a third of its capacity"
        #expect(report.comparison?.hasSuffix(" %): \(parts) \(cause).") == true)
    }

    @Test func `a network failure is not reported as a server's fault`() throws {
        let report = Report(of: try Self.simulation(FleetPlan(clients: 100, scenario: .network30)))

        #expect(report.faults.isEmpty)
        #expect(report.marks.map(\.server) == [nil, nil])
        #expect(report.summary.hasPrefix("Every server was unreachable for 30 % of the clients"))
    }

    @Test func `if no server fails, the report of a fleet lists only the servers that were overloaded`()
        throws
    {
        let simulation = try Self.simulation(FleetPlan(clients: 100, scenario: .herd))
        let report = Report(of: simulation)

        #expect(report.faults.isEmpty && report.marks.isEmpty)
        #expect(report.phases.map(\.name) == [.all])
        #expect(report.summary.hasPrefix("No server failed, and each server can handle half of the load; "))
        #expect(report.verdict.headline.hasPrefix("No server failed, and each server can handle half of the load. "))
        let overloaded = FleetReport(of: simulation, wallSeconds: 0).servers.filter { $0.secondsOverCapacity > 0 }
        #expect(!overloaded.isEmpty)
        #expect(report.verdict.details.first?.hasPrefix("Errors: ") == true)
        #expect(report.verdict.details.dropFirst() == overloaded.map { "Server \($0.name) \($0.words)." }[...])
    }

    @Test func `the report of a fleet can be decoded from its JSON`() throws {
        let report = try Self.reported.get()

        #expect(try JSONDecoder().decode(Report.self, from: Data(report.json().utf8)) == report)
    }

    @Test func `a histogram of waiting times returns exact quantiles`() {
        var waits = FleetWaits(seconds: 3)
        for wait in 1...100 { waits.add(Double(wait) / 1000, from: 1.5) }

        #expect(waits.quantiles([0.5, 0.99, 1], of: 0..<3) == [50, 99, 100])
        #expect(waits.quantiles([0.5], of: 0..<1) == [nil])
    }
}
