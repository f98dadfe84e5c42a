/// Placeholder until the transports land.
enum SystemTransport {
    static func make() throws(TransportError) -> any Transport {
        throw TransportError(.unsupported, message: "none")
    }
}
