import Dispatch
import Foundation

/// Ends the process when a run does not end: a hang is a result too.
struct Watchdog {
    private let timer: any DispatchSourceTimer

    /// Lets it run.
    ///
    /// - Parameters:
    ///   - seconds: How long the run may take.
    ///   - state: Says how far it came.
    init(seconds: Int, state: @escaping @Sendable () -> String) {
        timer = DispatchSource.makeTimerSource(queue: .global(qos: .userInteractive))
        timer.schedule(deadline: .now() + .seconds(seconds))
        timer.setEventHandler {
            FileHandle.standardError.write(Data("no end after \(seconds) s: \(state())\n".utf8))
            exit(1)
        }
        timer.activate()
    }

    func stop() {
        timer.cancel()
    }
}
