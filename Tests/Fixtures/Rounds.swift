import Foundation

/// The number of rounds of a test whose rounds differ only in drawn numbers or in timing.
///
/// A run of the tests plays few rounds. Continuous integration sets the environment variable `SWITCHYARD_THOROUGH` and
/// plays all of them.
package enum Rounds {
    private static let isThorough = ProcessInfo.processInfo.environment["SWITCHYARD_THOROUGH"] != nil

    /// Returns the first number, or the second one if the environment asks for a thorough run.
    package static func count(_ few: Int, thorough: Int) -> Int { isThorough ? thorough : few }
}
