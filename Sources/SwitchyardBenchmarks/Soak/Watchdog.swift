import Dispatch
import Foundation

/// A watchdog that ends the process if a benchmark does not finish in time, so that a hang is reported.
struct Watchdog {
    private let timer: any DispatchSourceTimer

    /// Starts the watchdog.
    ///
    /// - Parameters:
    ///   - seconds: The maximum duration of the run in seconds.
    ///   - state: Returns a description of the progress.
    init(seconds: Int, state: @escaping @Sendable () -> String) {
        timer = DispatchSource.makeTimerSource(queue: .global(qos: .userInteractive))
        timer.schedule(deadline: .now() + .seconds(seconds))
        timer.setEventHandler {
            FileHandle.standardError.write(Data("not completed after \(seconds) s: \(state())\n".utf8))
            exit(1)
        }
        timer.activate()
    }

    func stop() {
        timer.cancel()
    }
}
