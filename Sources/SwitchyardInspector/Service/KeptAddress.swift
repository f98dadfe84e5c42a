import Foundation

/// The port and the secret token of an inspector's address, stored in a file so that the next run of the app serves the
/// page at the same address.
struct KeptAddress: Codable, Sendable, Equatable {
    var port: UInt16
    var token: String

    /// Reads a file, or returns `nil` if the file does not exist or has no valid address.
    static func read(_ file: URL) -> KeptAddress? {
        guard let data = try? Data(contentsOf: file),
            let address = try? JSONDecoder().decode(KeptAddress.self, from: data),
            address.token.utf8.count == 32, address.token.allSatisfy(\.isHexDigit)
        else { return nil }
        return address
    }

    /// Writes the address to a file that only the user can read.
    ///
    /// If the file cannot be written, the next run has another address.
    func write(_ file: URL) {
        let manager = FileManager.default
        try? manager.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        guard let data = try? JSONEncoder().encode(self) else { return }
        try? manager.removeItem(at: file)
        _ = manager.createFile(atPath: file.path, contents: data, attributes: [.posixPermissions: 0o600])
    }

    /// Returns the file for a client of a service in this program, or `nil` if the system has no folder for caches.
    static func file(of service: String) -> URL? {
        let folder = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        let program = ProcessInfo.processInfo.processName
        let name = "\(program)-\(service)".map { $0.isLetter || $0.isNumber || "-_.".contains($0) ? $0 : "_" }
        return folder?.appendingPathComponent("SwitchyardInspector").appendingPathComponent("\(String(name)).json")
    }
}
