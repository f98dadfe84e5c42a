import Foundation
import SwitchyardFixtures
import SwitchyardServices

/// Certificates for tests, created by the `openssl` command and kept while the test runs.
///
/// A test authority has signed `good`, `expired`, `foreign` (for another host) and `client`. `selfSigned` has no
/// authority.
struct Certificates: Sendable {
    enum Name: String, Sendable, CaseIterable {
        case good, expired, foreign, client, selfSigned
    }

    private let folder: TemporaryFolder

    private struct Shared {
        weak var folder: TemporaryFolder?
    }

    private static let shared = Locked(Shared())

    /// Certificates for tests that only read them.
    ///
    /// Concurrent tests share one set.
    static func ready() throws -> Certificates {
        try shared.withLock { shared in
            if let folder = shared.folder { return Certificates(folder: folder) }
            let certificates = try Certificates()
            shared.folder = certificates.folder
            return certificates
        }
    }

    private init(folder: TemporaryFolder) {
        self.folder = folder
    }

    /// Certificates for tests that add files to them.
    init() throws {
        folder = try TemporaryFolder.made()
        for (name, bytes) in try Self.files.get() { _ = try folder.file(name, bytes) }
    }

    /// The names and contents of the files of every set, because creating them takes ten commands.
    private static let files: Result<[(String, Data)], any Error> = Result {
        let certificates = Certificates(folder: try TemporaryFolder.made())
        try certificates.create()
        let folder = certificates.folder.url
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return try names.map { ($0, try Data(contentsOf: folder.appending(path: $0))) }
    }

    private func create() throws {
        try openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=Test-Authority -keyout ca.key -out ca.pem"
        )
        for name in Name.allCases where name != .selfSigned { try sign(name) }
        try openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 "
                + "-keyout selfSigned.key -out selfSigned.pem"
        )
    }

    /// The authority's certificate.
    var authority: URL { folder.url.appending(path: "ca.pem") }
    /// A folder with the authority's certificate in the form that OpenSSL expects.
    func authorityFolder() throws -> URL {
        let hashed = folder.url.appending(path: "hashed")
        try FileManager.default.createDirectory(at: hashed, withIntermediateDirectories: true)
        try Data(contentsOf: authority).write(to: hashed.appending(path: "ca.pem"))
        try openssl("rehash hashed")
        return hashed
    }

    /// The file of a certificate.
    func certificate(_ name: Name) -> URL { folder.url.appending(path: "\(name.rawValue).pem") }
    /// The file of its private key.
    func key(_ name: Name) -> URL { folder.url.appending(path: "\(name.rawValue).key") }

    /// The pin of a certificate's public key, as the `openssl` command computes it.
    func pin(_ name: Name) throws -> String {
        try openssl("x509 -in \(name.rawValue).pem -noout -pubkey -out \(name.rawValue).pub")
        try openssl("pkey -pubin -in \(name.rawValue).pub -outform DER -out \(name.rawValue).der")
        try openssl("dgst -sha256 -binary -out \(name.rawValue).digest \(name.rawValue).der")
        return try Data(contentsOf: folder.url.appending(path: "\(name.rawValue).digest")).base64EncodedString()
    }

    /// The certificate and its private key as PKCS 12 data.
    func pkcs12(_ name: Name, password: String) throws -> Data {
        let files = "-in \(name.rawValue).pem -inkey \(name.rawValue).key -out \(name.rawValue).p12"
        try openssl("pkcs12 -export \(files) -passout pass:\(password)")
        return try Data(contentsOf: folder.url.appending(path: "\(name.rawValue).p12"))
    }

    /// The authority's revocation list, with one certificate on it.
    func revocationList(naming name: Name) throws -> URL {
        let settings = """
            [ca]
            default_ca = authority
            [authority]
            database = \(name.rawValue).index
            default_md = sha256
            default_crl_days = 30
            certificate = ca.pem
            private_key = ca.key
            """
        _ = try folder.file("\(name.rawValue).index", Data())
        _ = try folder.file("\(name.rawValue).cnf", Data(settings.utf8))
        try openssl("ca -config \(name.rawValue).cnf -revoke \(name.rawValue).pem")
        try openssl("ca -config \(name.rawValue).cnf -gencrl -out \(name.rawValue).crl")
        return folder.url.appending(path: "\(name.rawValue).crl")
    }

    private func sign(_ name: Name) throws {
        let host = name == .foreign ? "DNS:elsewhere.example" : "IP:127.0.0.1,DNS:localhost"
        // Apple systems reject a server whose certificate is not marked for server authentication.
        let settings = "subjectAltName=\(host)\nextendedKeyUsage=serverAuth,clientAuth"
        _ = try folder.file("\(name.rawValue).ext", Data(settings.utf8))
        try openssl(
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=\(name.rawValue) -keyout \(name.rawValue).key -out \(name.rawValue).csr"
        )
        try sign(name, into: "\(name.rawValue).pem")
    }

    private func sign(_ name: Name, into file: String) throws {
        let days = name == .expired ? -1 : 30
        try openssl(
            "x509 -req -in \(name.rawValue).csr -CA ca.pem -CAkey ca.key -CAcreateserial -days \(days) "
                + "-extfile \(name.rawValue).ext -out \(file)"
        )
    }

    /// Another certificate with the same name and key.
    func refreshed(_ name: Name) throws -> URL {
        try sign(name, into: "\(name.rawValue).refreshed.pem")
        return folder.url.appending(path: "\(name.rawValue).refreshed.pem")
    }

    private func openssl(_ arguments: String) throws {
        let words = arguments.split(separator: " ").map(String.init)
        try ChildCommand.run(["/bin/sh", "-c", "cd '\(folder.url.path)' && exec openssl \"$@\"", "openssl"] + words)
    }
}

/// A TLS server that responds to every GET: the `openssl` command.
final class TLSServer {
    private let process: ChildCommand
    /// Its port, or 0 if it listens on a Unix socket.
    let port: Int

    /// Its URL.
    var url: String { "https://127.0.0.1:\(port)/" }

    init(_ certificates: Certificates, _ name: Certificates.Name, options: [String] = []) throws {
        let launch = try TLSLaunch()
        process = try ChildCommand(launch.command + ["-www"] + Self.identity(certificates, name) + options)
        port = try launch.port(in: process.output)
    }

    /// A server on a Unix socket.
    init(_ certificates: Certificates, _ name: Certificates.Name, at socket: URL) throws {
        // The command accepts short paths only.
        let folder = socket.deletingLastPathComponent().path
        let options = ["-www", "-unix", socket.lastPathComponent]
        let command = TLSLaunch.server + options + Self.identity(certificates, name)
        process = try ChildCommand(["/bin/sh", "-c", "cd '\(folder)' && exec \"$@\"", "sh"] + command)
        _ = try Self.acceptance(in: process.output)
        port = 0
    }

    private static func identity(_ certificates: Certificates, _ name: Certificates.Name) -> [String] {
        ["-cert", certificates.certificate(name).path, "-key", certificates.key(name).path]
    }

    struct NoPort: Error {}

    /// Reads up to the line that reports that the server listens.
    fileprivate static func acceptance(in handle: FileHandle) throws -> Substring {
        var text = ""
        while true {
            let bytes = handle.availableData
            guard !bytes.isEmpty else { throw NoPort() }
            text += String(decoding: bytes, as: UTF8.self)
            let line = text.split(separator: "\n").first { $0.hasPrefix("ACCEPT") }
            if let line, text.hasSuffix("\n") { return line }
        }
    }
}

/// The command that starts a TLS server on a port that no other server of this process has.
struct TLSLaunch {
    #if os(Linux)
        /// The command without a port.
        ///
        /// The server does not read the authorities of the system, which would take most of the time of a start.
        static let server = ["openssl", "s_server", "-no-CAfile", "-no-CApath", "-no-CAstore"]
    #else
        /// The command without a port.
        static let server = ["openssl", "s_server"]
    #endif

    /// The port, or 0 if the system assigns one.
    private let port: Int

    var command: [String] { Self.server + ["-accept", "127.0.0.1:\(port)"] }

    init() throws {
        #if os(Linux)
            port = Int(try TCPListener().port)
        #else
            port = 0
        #endif
    }

    /// Waits until the server listens, and returns its port.
    ///
    /// The server reports "ACCEPT 127.0.0.1:port" if the system has assigned the port, and "ACCEPT" otherwise.
    func port(in output: FileHandle) throws -> Int {
        let line = try TLSServer.acceptance(in: output)
        guard port == 0 else { return port }
        guard let port = line.split(separator: ":").last.flatMap({ Int($0) }) else { throw TLSServer.NoPort() }
        return port
    }
}
