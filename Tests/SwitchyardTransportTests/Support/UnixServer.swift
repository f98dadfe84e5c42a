import SwitchyardFixtures

#if os(Linux)
    import Foundation
    import Glibc

    /// A server on a Unix socket that sends one response to one connection, whatever the request is.
    final class UnixServer: Sendable {
        struct Failure: Error {
            let code: Int32
        }

        private let folder: TemporaryFolder
        private let listener: Int32

        /// The path of its socket.
        var path: String { folder.url.appending(path: "s").path }

        init(answer: String) throws {
            folder = try TemporaryFolder.made()
            listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            try bindAndListen()
            Thread.detachNewThread { [listener] in
                let connection = accept(listener, nil, nil)
                var request = [UInt8](repeating: 0, count: 4096)
                _ = read(connection, &request, request.count)
                _ = answer.withCString { write(connection, $0, strlen($0)) }
                TCPListener.end(connection)
            }
        }

        deinit {
            Glibc.close(listener)
        }

        private func bindAndListen() throws {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let path = path
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
            let size = socklen_t(MemoryLayout<sockaddr_un>.size)
            let bound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, size) }
            }
            guard bound == 0, listen(listener, 4) == 0 else { throw Failure(code: errno) }
        }
    }
#endif
