import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransport
import Testing

/// A cancel at any time ends an exchange once and has no other effect.
@Suite(.timeLimit(.minutes(5)), .prompt) struct CancelConformanceTests {
    @Test(arguments: Subject.allCases)
    func `a request that is cancelled before its start is not sent`(_ subject: Subject) async throws {
        try await Lab.run(subject) { lab in
            let request = try lab.request("/text")
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await lab.failure(of: request)
            }

            #expect(await task.value?.kind == .cancelled)
            #expect(lab.server.requests.isEmpty)
        }
    }

    @Test(arguments: Subject.allCases)
    func `an exchange that is cancelled right after its start completes once`(_ subject: Subject) async throws {
        try await Lab.run(subject) { lab in
            let request = try lab.request("/never")
            let outcome = await withCheckedContinuation { continuation in
                let task = lab.transport.start(request, progress: nil) { continuation.resume(returning: $0) }
                task.cancel()
                task.cancel()
            }

            #expect(outcome.failure?.kind == .cancelled)
        }
    }

    @Test(arguments: Subject.networked)
    func `cancelling an exchange while it waits for the response ends the exchange`(_ subject: Subject) async throws {
        try await Lab.run(subject) { lab in
            let request = try lab.request("/never")
            let task = Task { await lab.failure(of: request) }
            await lab.server.waitForRequests(1)
            task.cancel()

            #expect(await task.value?.kind == .cancelled)
            await lab.server.wait { $0.connectionsOpen == 0 }
        }
    }

    @Test(arguments: Subject.allCases)
    func `cancelling a reader in the middle of a response body ends the reading`(_ subject: Subject) async throws {
        try await Lab.run(subject) { server in
            server.route(.get, "/chunks") { _ in
                .stream { writer in
                    try await writer.write(Lab.chunks[0])
                    try await Task.sleep(for: .seconds(3600))
                }
            }
        } _: { lab in
            let response = try await lab.transport.send(try lab.request("/chunks", delivery: .stream))
            guard case .stream(let stream) = response.body else { return #expect(Bool(false), "expected a stream") }
            let firstCame = Latch()
            let reading = Task { () async -> TransportError? in
                defer { firstCame.open() }
                do throws(TransportError) {
                    for try await _ in stream { firstCame.open() }
                    return nil
                } catch {
                    return error
                }
            }
            await firstCame.wait()
            reading.cancel()

            let error = await reading.value
            if subject != .stub { #expect(error?.kind == .cancelled) }
        }
    }

    @Test(arguments: Subject.networked)
    func `releasing a stream cancels its exchange`(_ subject: Subject) async throws {
        try await Lab.run(subject) { server in
            server.route(.get, "/endless") { _ in
                .stream { writer in
                    while true { try await writer.write(Data(count: 65_536)) }
                }
            }
        } _: { lab in
            do {
                let response = try await lab.transport.send(try lab.request("/endless", delivery: .stream))
                #expect(response.status == 200)
            }

            await lab.server.wait { $0.connectionsOpen == 0 }
        }
    }

    @Test(arguments: Subject.allCases)
    func `cancelling an exchange after its end has no effect`(_ subject: Subject) async throws {
        try await Lab.run(subject) { lab in
            let ended = Latch()
            let request = try lab.request("/text")
            let task = lab.transport.start(request, progress: nil) { _ in ended.open() }
            await ended.wait()
            task.cancel()

            #expect(await lab.failure(of: request) == nil)
        }
    }

    @Test(arguments: Subject.networked)
    func `a shutdown ends the active exchanges`(_ subject: Subject) async throws {
        try await Lab.run(subject) { lab in
            let request = try lab.request("/never")
            let task = Task { await lab.failure(of: request) }
            await lab.server.waitForRequests(1)
            lab.transport.shutdown()

            let error = await task.value
            #expect(error?.kind == .closed)
            #expect(error?.mayHaveBeenSent == true)
        }
    }

    @Test(arguments: Subject.allCases)
    func `releasing a transport lets the active exchanges finish`(_ subject: Subject) async throws {
        try await Lab.run(subject) { lab in
            let request = try lab.request("/chunks")
            var transport: (any Transport)? = try subject.makeTransport()
            let outcome = await withCheckedContinuation { continuation in
                _ = transport?.start(request, progress: nil) { continuation.resume(returning: $0) }
                transport = nil
            }

            #expect(try outcome.get().status == 200)
        }
    }

    @Test(arguments: Subject.allCases)
    func `every exchange that is cancelled at a random time completes exactly once`(_ subject: Subject) async throws {
        try await Lab.run(subject) { lab in
            let request = try lab.request("/text")
            let tally = Locked((completed: 0, cancelled: 0))
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<400 {
                    group.addTask {
                        await withCheckedContinuation { continuation in
                            let task = lab.transport.start(request, progress: nil) { outcome in
                                tally.withLock { tally in
                                    tally.completed += 1
                                    if outcome.failure?.kind == .cancelled { tally.cancelled += 1 }
                                }
                                continuation.resume()
                            }
                            let delay = DispatchTimeInterval.microseconds(index * 37 % 3000)
                            DispatchQueue.global().asyncAfter(deadline: .now() + delay) { task.cancel() }
                        }
                    }
                }
            }

            #expect(tally.withLock { $0.completed } == 400)
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
