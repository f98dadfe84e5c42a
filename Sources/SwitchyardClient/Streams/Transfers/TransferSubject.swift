import Foundation

/// What a transfer is about, whichever server is asked: names what is kept of it for a later call.
struct TransferSubject: Sendable, Hashable {
    /// The path, without the query.
    var path: String
    /// The digest of service, environment, method, path and query.
    var digest: String

    /// - Parameters:
    ///   - request: What is asked.
    ///   - name: What names the subject in place of method, path and query.
    ///   - service: The service.
    ///   - environment: Its environment.
    /// - Throws: ``RequestError`` for a request that cannot be sent anyway.
    init(
        _ request: APIConfiguration,
        named name: String? = nil,
        service: String,
        environment: String
    ) throws(RequestError) {
        let url: RequestURL
        if let prebuilt = request.prebuiltRequest {
            url = prebuilt.url
        } else {
            var plain = APIConfiguration(path: request.path, method: request.method, query: request.query)
            plain.pathValues = request.pathValues
            plain.parameters = request.parameters
            plain.parameterDestination = .query
            plain.parameterOptions = request.parameterOptions
            var base = try BaseURL("http://server.invalid")
            if case .baseURL(let other) = request.server { base = BaseURL(other) }
            url = try RequestGenerator(headers: [:]).request(for: plain, on: base).url
        }
        path = String(url.text.prefix { $0 != "?" }).replacingOccurrences(of: "http://server.invalid", with: "")
        let name = name ?? "\(request.sentMethod) \(url.text)"
        digest = MessageDigest.sha256("\(service)\n\(environment)\n\(name)".utf8).hexText
    }
}

extension TransferSubject {
    /// What a download asks for.
    init(_ download: DownloadConfiguration, service: String, environment: String) throws(RequestError) {
        try self.init(download.request, named: download.contentName, service: service, environment: environment)
    }
}
