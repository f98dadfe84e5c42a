#if os(Linux)
    import SwitchyardClient
    import SwitchyardTransport

    extension CurlTransport.Configuration.Proxy {
        /// A proxy on this machine that requires credentials.
        static func local(
            _ kind: CurlTransport.Configuration.ProxyServer.Kind,
            _ port: UInt16,
            user: String = "user",
            password: String = "word"
        ) -> Self {
            var proxy = CurlTransport.Configuration.ProxyServer(kind: kind, host: "127.0.0.1", port: Int(port))
            proxy.credentials = .init(user: user, password: password)
            return .server(proxy)
        }
    }
#endif
