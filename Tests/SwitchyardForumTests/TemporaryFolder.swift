import Foundation

/// Runs a closure with a temporary folder, which is removed afterwards.
func withTemporaryFolder<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("yard-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let result: Result<Value, any Error>
    do {
        result = .success(try await body(folder))
    } catch {
        result = .failure(error)
    }
    try FileManager.default.removeItem(at: folder)
    return try result.get()
}
