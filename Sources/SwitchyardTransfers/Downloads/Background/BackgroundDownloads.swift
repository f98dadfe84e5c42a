public import Foundation
import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// Downloads that the system carries out even while the app is not running, on Apple systems only.
///
/// On other systems, the initializers throw ``DownloadFailure/Reason/unsupported(_:)``.
///
/// The system decides when and how the downloads run. Switchyard does not switch these downloads to another server, and
/// they do not count for the health of a server. Create one instance per identifier early in the life of the app: the
/// instance attaches to the downloads of an earlier run and immediately reports the downloads that ended in the
/// meantime.
///
/// Retain the instance for as long as you want to start downloads. Active downloads continue after the instance is
/// released, and the completion handler still reports how they end. The identifier is free again after the last of
/// these downloads ends.
///
/// Background downloads are independent of any client. They do not use the trust settings and pins of a transport, and
/// they do not use the rule for plain HTTP (`NetworkClient.Options.insecureHTTP`), the credentials or the cookies of a
/// client. The `tls` parameter of the initializers sets their trust settings.
///
/// ### Redirects
/// The system follows every redirect of a background download without asking the app (Apple,
/// `urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)`). Public key pins apply to every
/// server in the redirect chain that is requested over https. If the request used https but the final response came
/// over http, the file is rejected and the download fails with `RequestError.URLReason.insecure`. An http redirect in
/// the middle of the chain cannot be detected; App Transport Security refuses it unless the app has made an exception.
/// The system may forward header fields to another host, so do not put credentials into header fields. A signed URL
/// that is valid only for this file is safe.
public final class BackgroundDownloads: Sendable {
    /// A background download.
    public struct Download: Sendable, Hashable {
        /// A number that identifies the download within the background session.
        public var number: Int
        /// The destination of the file.
        public var file: URL
    }

    /// A closure that receives the result of a download, called on a queue of the session.
    public typealias Completion = @Sendable (Download, Result<URL, DownloadFailure>) -> Void

    #if canImport(Darwin)
        private let session: BackgroundSession
    #endif

    /// Attaches to the downloads of a session identifier, including downloads from an earlier run of the app.
    ///
    /// - Parameters:
    ///   - identifier: The name of the session. Use one name per app or extension and purpose. An app and its extension
    ///     need different identifiers because only one process can use a session at a time.
    ///   - tls: The trust settings of the downloads; the system's trust unless given. If keys are pinned, http is
    ///     refused.
    ///   - completion: A closure that receives the result of each download, including downloads from an earlier run.
    /// - Throws: ``DownloadFailure``. Its reason is ``DownloadFailure/Reason/unsupported(_:)`` if the system has no
    ///   background downloads. The reason is a `TransportError` if URLSession does not support the trust settings, and
    ///   a `TransportError` of the kind `TransportError.Kind.invalidRequest` if the identifier is empty or is used by
    ///   another instance that is alive or has active downloads.
    public init(
        identifier: String,
        tls: TLSConfiguration = TLSConfiguration(),
        completion: @escaping Completion
    ) throws(DownloadFailure) {
        #if canImport(Darwin)
            let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
            session = try BackgroundSession(configuration, tls: tls, completion: completion)
        #else
            throw .background(.unsupported("downloads in the background need an Apple system"))
        #endif
    }

    #if canImport(Darwin)
        /// Attaches to the downloads of a configuration's identifier, including downloads from an earlier run of the
        /// app.
        ///
        /// Use this initializer to set `URLSessionConfiguration` options. An app extension needs a
        /// `sharedContainerIdentifier`; otherwise the system ends the session immediately. `isDiscretionary` lets the
        /// system choose when the downloads run.
        ///
        /// - Parameters:
        ///   - configuration: A configuration created with `background(withIdentifier:)`. Its cookies, its credentials
        ///     and the system's cache are always turned off, and its TLS versions are replaced by the versions in
        ///     `tls`.
        ///   - tls: The trust settings of the downloads; the system's trust unless given. If keys are pinned, http is
        ///     refused.
        ///   - completion: A closure that receives the result of each download, including downloads from an earlier
        ///     run.
        /// - Throws: The same errors as ``init(identifier:tls:completion:)``. The identifier counts as empty if the
        ///   configuration is not for background sessions.
        public init(
            _ configuration: URLSessionConfiguration,
            tls: TLSConfiguration = TLSConfiguration(),
            completion: @escaping Completion
        ) throws(DownloadFailure) {
            session = try BackgroundSession(configuration, tls: tls, completion: completion)
        }

        deinit {
            // A session retains its delegate and its identifier until the session is invalidated.
            session.close()
        }
    #endif

    /// Starts a download.
    ///
    /// - Parameters:
    ///   - request: The complete request; only its URL, method, header fields and network permissions are used.
    ///   - file: The destination of the file. An existing file is replaced, and missing directories are created.
    /// - Returns: The started download, for ``cancel(_:)`` and for comparison with the download that the completion
    ///   handler receives.
    /// - Throws: ``DownloadFailure`` if the request cannot be sent.
    @discardableResult
    public func start(_ request: HTTPRequest, to file: URL) throws(DownloadFailure) -> Download {
        #if canImport(Darwin)
            return try session.start(request, to: file)
        #else
            throw .background(.unsupported("downloads in the background need an Apple system"))
        #endif
    }

    /// Returns the active downloads, including downloads from an earlier run.
    public func active() async -> [Download] {
        #if canImport(Darwin)
            return await session.active()
        #else
            return []
        #endif
    }

    /// Cancels a download; a download that has ended is unaffected.
    public func cancel(_ download: Download) {
        #if canImport(Darwin)
            session.cancel(download)
        #endif
    }

    /// Stores the completion handler that the system passes to the app when it wakes the app for this session's events,
    /// and calls the handler when all events have been delivered.
    ///
    /// If all events have already been delivered, the handler is called immediately.
    ///
    /// This method is isolated to the main actor because UIKit's handler is not `@Sendable` and UIKit passes it to the
    /// app delegate on the main actor. The handler is also called on the main actor, as UIKit requires (Apple,
    /// `urlSessionDidFinishEvents(forBackgroundURLSession:)`).
    @MainActor public func whenEventsAreFinished(_ handler: @escaping () -> Void) {
        #if canImport(Darwin)
            session.whenEventsAreFinished(handler)
        #endif
    }
}

extension DownloadFailure {
    /// Returns a download failure without the context of a client, because background downloads belong to no client.
    static func background(_ reason: Reason) -> DownloadFailure {
        let context = RequestContext(service: "background", environment: .release, method: .get)
        return DownloadFailure(reason, id: RequestID(), context: context)
    }
}
