import Foundation
import SwitchyardHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension TransportError {
    /// Creates a transport error from an error of Foundation's URL loading, or returns `nil` for an error of another
    /// domain.
    ///
    /// The domain is always compared too, because other domains use the same codes.
    package init?(urlLoading error: any Error) {
        let native = error as NSError
        guard native.domain == NSURLErrorDomain else { return nil }
        self.init(
            Kind(urlErrorCode: native.code),
            message: "URL loading failed with the error \(native.code)",
            code: native.code,
            mayHaveBeenSent: ![-1000, -1002, -1003, -1004, -1006, -1009].contains(native.code)
        )
    }
}
