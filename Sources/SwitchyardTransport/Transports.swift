public import SwitchyardHTTP

/// Makes the transport that suits the system.
public enum Transports {
    /// Creates the default transport of this system: ``CurlTransport`` on Linux, ``URLSessionTransport`` on
    /// Apple systems.
    ///
    /// - Parameter tls: Whom the transport trusts, and how it identifies itself; the system's trust unless given.
    /// - Returns: The transport.
    /// - Throws: `TransportError` when the transport cannot be created; on Linux when libcurl is missing or too old.
    public static func systemDefault(
        tls: TLSConfiguration = TLSConfiguration()
    ) throws(TransportError) -> any Transport {
        #if os(Linux)
            var configuration = CurlTransport.Configuration()
            configuration.tls = tls
            return try CurlTransport(configuration: configuration)
        #else
            var configuration = URLSessionTransport.Configuration()
            configuration.tls = tls
            return try URLSessionTransport(configuration: configuration)
        #endif
    }
}
