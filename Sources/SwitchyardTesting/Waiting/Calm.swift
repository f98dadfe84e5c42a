/// Waits until tasks of this process get their turn in time.
///
/// All tests start at once, and for half a minute a task may wait for seconds. Whoever looks on in real time while a
/// server dies has to begin after that: answers that took seconds are what the client then takes for usual, and it waits
/// three times as long before it asks another server. So has whoever keeps to an app's deadlines.
package func calm() async throws {
    var inTime = 0
    while inTime < 10 {
        let start = ContinuousClock.now
        try await Task.sleep(for: .milliseconds(10))
        inTime = ContinuousClock.now - start < .milliseconds(50) ? inTime + 1 : 0
    }
}
