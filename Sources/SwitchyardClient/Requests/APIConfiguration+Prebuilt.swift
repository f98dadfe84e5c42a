package import SwitchyardHTTP
import SwitchyardServices

/// What is sent: that of a ``APIConfiguration/prebuiltRequest``, where there is one.
extension APIConfiguration {
    /// The method that is sent.
    package var sentMethod: HTTPMethod { rare?.value.prebuiltRequest?.method ?? method }

    /// Where it is sent: the path, or the URL.
    package var place: String { rare?.value.prebuiltRequest?.url.text ?? path }

    /// The call's own header fields.
    package var ownHeaders: HTTPHeaders { rare?.value.prebuiltRequest?.headers ?? headers }

    /// Sets a header field of the call's own.
    package mutating func setField(_ name: String, _ value: String) {
        headers.set(name, value)
        guard var request = prebuiltRequest else { return }
        request.headers.set(name, value)
        prebuiltRequest = request
    }

    /// Whether the path is an absolute URL, with scheme and host: then it belongs to no server of the service.
    private var hasAbsoluteURL: Bool { URLParts.areAbsolute(in: path) }

    /// Whether the servers of the service are to be chosen from: what the call says names no place of its own.
    package var leavesChoice: Bool {
        guard case .automatic = server, !hasAbsoluteURL else { return false }
        guard let rare else { return true }
        return rare.value.prebuiltRequest == nil && !(usesCDN && rare.value.cdnURL != nil)
    }
}
