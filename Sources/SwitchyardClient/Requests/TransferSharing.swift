/// Whether a call shares one transfer with others that ask the same at the same time.
public enum TransferSharing: Sendable, Hashable {
    /// It has a transfer of its own.
    case off
    /// Reads of the same URL with the same header fields share one, unless the client's credentials or cookies have
    /// changed meanwhile.
    ///
    /// Only what is safe by its method, has no body and takes its answer in one piece is shared (RFC 9110 section
    /// 9.2.1); anything else has a transfer of its own. So has what code of the app's makes its request of: a modifier,
    /// a rule for the URL, an adapting interceptor of the call's own, and values of your own (``ConfigurationKey``) where
    /// the client has code that is shown them.
    case identical
    /// Calls of the same name share one, whatever they are, unless the client's credentials or cookies have changed
    /// meanwhile: it is the caller's word that they ask the same.
    case named(String)
}
