import Foundation

/// The number of repetitions of a test whose repetitions differ only in random numbers or in timing.
///
/// A run of the tests has few repetitions. Continuous integration sets the environment variable `SWITCHYARD_THOROUGH`,
/// and each test is then repeated more often.
package enum Rounds {
    private static let isThorough = ProcessInfo.processInfo.environment["SWITCHYARD_THOROUGH"] != nil

    /// Returns the first number, or the second one if the environment asks for a thorough run.
    package static func count(_ few: Int, thorough: Int) -> Int { isThorough ? thorough : few }
}
