#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The file descriptors of this process.
enum Descriptors {
    /// How many a connection may need at once: its socket, a resolver's, and the files of the certificate authorities.
    private static let needed = 4

    /// Whether so few are left that a connection may have failed for the lack of one (EMFILE, ENFILE).
    ///
    /// libcurl reports such a failure as that of whatever needed the descriptor: a name that was not found, or a file
    /// of certificates that cannot be read.
    static var areExhausted: Bool {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        for _ in 0..<needed {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return errno == EMFILE || errno == ENFILE }
            opened.append(descriptor)
        }
        return false
    }

    /// Whether an error number says that this machine lacks descriptors or memory for another socket.
    static func lack(_ error: Int32) -> Bool { [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error) }
}
