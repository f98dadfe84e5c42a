import SwitchyardHTTP
import SwitchyardServices

/// The number of write requests that may have changed each path.
///
/// Because of this number, a read request after a write request does not reuse a response from before the write
/// request.
///
/// Paths share a fixed number of counters. If two paths share a counter, a write request to one path also counts for
/// the other path. The only effect is an additional request.
package final class WrittenPaths: Sendable {
    private static let size = 1024

    /// The counters, or an empty array until the first write request.
    private let counts = Locked<[UInt32]>([])

    /// Counts a write request to a path.
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

    /// Returns the index of a path's counter, which is the same however the path is percent-encoded.
    fileprivate static func place(of path: String) -> Int {
        let bare = String(path.before(UInt8(ascii: "?"), UInt8(ascii: "#")).drop { $0 == "/" })
        let url = isNormal(bare) ? nil : RequestURL("http://unused.example/\(bare)")
        let normal = url.map { String($0.pathInNormalForm.drop { $0 == "/" }) } ?? bare
        var hasher = Hasher()
        hasher.combine(normal)
        return Int(UInt(bitPattern: hasher.finalize()) % UInt(size))
    }

    /// Returns whether a path contains neither a percent escape nor a segment that starts with a dot.
    private static func isNormal(_ path: String) -> Bool {
        path.withContiguousUTF8 { bytes in
            var previous = UInt8(ascii: "/")
            for byte in bytes {
                let isDotSegment = byte == UInt8(ascii: ".") && previous == UInt8(ascii: "/")
                if isDotSegment || byte == UInt8(ascii: "%") { return false }
                previous = byte
            }
            return true
        }
    }
}

/// The counter of write requests to the path of one call.
package struct PathWrites: Sendable {
    private let paths: WrittenPaths
    private let place: Int

    fileprivate init(_ paths: WrittenPaths, _ path: String) {
        self.paths = paths
        place = WrittenPaths.place(of: path)
    }

    /// The number of write requests so far.
    package var count: UInt32 { paths.count(at: place) }
}

/// The counters of write requests to the paths of a service.
package struct PathCounters: Sendable {
    fileprivate let paths: WrittenPaths
    fileprivate let pool: ServerPool

    /// Returns the counter of write requests to the path of a read request, or `nil` for a call that may be a write
    /// request.
    package func writes(at configuration: APIConfiguration) -> PathWrites? {
        configuration.hasEffect ? nil : PathWrites(paths, path(of: configuration))
    }

    /// Counts a call that has ended as a write request, unless the call certainly changed nothing at its path.
    ///
    /// The call is counted before its caller is notified, so that the caller's next read request does not get an old
    /// response.
    func recordWrite(
        _ configuration: APIConfiguration,
        _ result: Result<HTTPResponse, RequestFailure.Reason>,
        _ context: RequestContext
    ) {
        guard configuration.hasEffect else { return }
        let isDone = if case .success(let response) = result { response.status < 400 } else { false }
        guard isDone || context.mayHaveBeenExecuted || !context.redirects.isEmpty else { return }
        paths.note(path(of: configuration))
        for step in context.redirects { paths.note(pool.storagePath(of: step.to) ?? step.to.pathInNormalForm) }
    }

    private func path(of configuration: APIConfiguration) -> String {
        var path = configuration.place
        if path.hasByte(UInt8(ascii: "{")) {
            path = (try? URLTemplate(path).expanded(with: configuration.pathValues)) ?? path
        }
        guard path.hasByte(UInt8(ascii: ":")), path.contains("://"), let url = RequestURL(path) else {
            let version = configuration.rare?.value.apiVersion ?? pool.generator.apiVersion
            return version.isEmpty ? path : "\(version)/\(path.drop { $0 == "/" })"
        }
        return pool.storagePath(of: url) ?? url.pathInNormalForm
    }
}

extension ClientCore {
    /// Returns the counters of write requests to the paths of the service.
    func pathCounters(in pool: ServerPool) -> PathCounters { PathCounters(paths: writtenPaths, pool: pool) }
}

extension NetworkClient {
    /// The counters of write requests to the paths of the service.
    package var pathCounters: PathCounters { core.pathCounters(in: pool) }
}
