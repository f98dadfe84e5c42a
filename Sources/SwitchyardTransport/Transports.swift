public import SwitchyardHTTP

/// A factory for the transport of the current system.
public enum Transports {
    /// Creates the default transport of this system: ``CurlTransport`` on Linux, ``URLSessionTransport`` on Apple
    /// systems.
    ///
    /// - Parameter tls: The trust settings and the client identity of the transport. By default, the system's trust
    ///   settings apply.
    /// - Returns: The transport.
    /// - Throws: `TransportError` if the transport cannot be created, for example on Linux because libcurl is missing
    ///   or too old.
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
