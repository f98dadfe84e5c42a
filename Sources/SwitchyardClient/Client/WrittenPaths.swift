import SwitchyardHTTP
import SwitchyardServices

/// How often a write may have changed what stands at a path, so that a read behind a write does not take the response of
/// a read before it.
///
/// Paths share a fixed number of counters. Two that share one seem to change together, which costs a request and nothing
/// else.
package final class WrittenPaths: Sendable {
    private static let size = 1024

    /// Empty until the first write.
    private let counts = Locked<[UInt32]>([])

    /// Takes note of a write.
    func note(_ path: String) {
        let place = Self.place(of: path)
        counts.withLock { counts in
            if counts.isEmpty { counts = [UInt32](repeating: 0, count: Self.size) }
            counts[place] &+= 1
        }
    }

    fileprivate func count(at place: Int) -> UInt32 {
        counts.withLock { $0.isEmpty ? 0 : $0[place] }
    }

    /// The counter of a path, however its bytes are escaped.
    fileprivate static func place(of path: String) -> Int {
        let bare = String(path.before(UInt8(ascii: "?"), UInt8(ascii: "#")).drop { $0 == "/" })
        let isNormal = !bare.utf8.contains(UInt8(ascii: "%")) && !bare.hasPrefix(".") && !bare.contains("/.")
        let url = isNormal ? nil : RequestURL("http://unused.example/\(bare)")
        let normal = url.map { String($0.pathInNormalForm.drop { $0 == "/" }) } ?? bare
        var hasher = Hasher()
        hasher.combine(normal)
        return Int(UInt(bitPattern: hasher.finalize()) % UInt(size))
    }
}

/// The writes at the path of one call.
package struct PathWrites: Sendable {
    private let paths: WrittenPaths
    private let place: Int

    fileprivate init(_ paths: WrittenPaths, _ path: String) {
        self.paths = paths
        place = WrittenPaths.place(of: path)
    }

    /// How many there have been.
    package var count: UInt32 { paths.count(at: place) }
}

extension ClientCore {
    /// The writes at the path of a read; `nil` for a call that has an effect itself.
    func writes(at configuration: APIConfiguration, in pool: ServerPool) -> PathWrites? {
        configuration.hasEffect ? nil : PathWrites(writtenPaths, path(of: configuration, in: pool))
    }

    /// Takes note of a call that has ended, where it may have changed something at its path.
    ///
    /// Told before the caller is, so that the caller's next read knows of it.
    func noteWrite(
        _ configuration: APIConfiguration,
        _ result: Result<HTTPResponse, RequestFailure.Reason>,
        _ context: RequestContext,
        in pool: ServerPool
    ) {
        guard configuration.hasEffect else { return }
        let isDone = if case .success(let response) = result { response.status < 400 } else { false }
        guard isDone || context.mayHaveBeenExecuted || !context.redirects.isEmpty else { return }
        writtenPaths.note(path(of: configuration, in: pool))
        for step in context.redirects { writtenPaths.note(pool.storagePath(of: step.to) ?? step.to.pathInNormalForm) }
    }

    private func path(of configuration: APIConfiguration, in pool: ServerPool) -> String {
        var path = configuration.place
        if path.hasByte(UInt8(ascii: "{")) {
            path = (try? URLTemplate(path).expanded(with: configuration.pathValues)) ?? path
        }
        guard path.contains("://"), let url = RequestURL(path) else { return path }
        return pool.storagePath(of: url) ?? url.pathInNormalForm
    }
}

extension NetworkClient {
    /// The writes at the path of a read; `nil` for a call that has an effect itself.
    package func writes(at configuration: APIConfiguration) -> PathWrites? {
        core.writes(at: configuration, in: pool)
    }
}
