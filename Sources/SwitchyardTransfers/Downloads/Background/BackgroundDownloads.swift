public import Foundation
import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// Downloads that the system carries out, also while the app is not running: Apple systems only.
///
/// On other systems there is no such service, and making one throws ``DownloadFailure/Reason/unsupported(_:)``.
///
/// The system decides when and how they run; servers are not switched and nothing is counted. Make one per identifier,
/// early in the life of the app: downloads of an earlier run are attached to it again, and those that ended meanwhile are
/// told at once.
///
/// Keep it for as long as downloads are to be started. Those under way when it is released run to their end, which is
/// told as ever; its identifier is free again after the last of them.
///
/// They stand beside the clients and know nothing of them: neither the trust settings and pins of a transport nor the
/// rule for http, credentials or cookies of a client hold for them. Whom they trust is said when they are made.
///
/// ### Redirects
/// The system follows every redirect of such a download without asking (Apple,
/// `urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)`). Pins hold at every server on the way
/// that is asked over https. A file that came over http in the end, where https was asked for, is not taken: the
/// download fails with `RequestError.URLReason.insecure`. Whether there was http in between is not known; App Transport
/// Security refuses it unless the app has made an exception. Header fields may go along to another host, so put no
/// credential into them: a URL that is signed for the one file is safe.
public final class BackgroundDownloads: Sendable {
    /// One download.
    public struct Download: Sendable, Hashable {
        /// Its number within the session.
        public var number: Int
        /// Where the file goes.
        public var file: URL
    }

    /// Told how a download ended, on a queue of the session.
    public typealias Completion = @Sendable (Download, Result<URL, DownloadFailure>) -> Void

    #if canImport(Darwin)
        private let session: BackgroundSession
    #endif

    /// Attaches to the downloads of an identifier, those of an earlier run included.
    ///
    /// - Parameters:
    ///   - identifier: The name of the session, one per app or extension and purpose. An app and its extension need
    ///     two, since one process can use a session at a time.
    ///   - tls: Whom the downloads trust; the system's trust unless given. With pins http is refused.
    ///   - completion: Told how each download ended, those of an earlier run included.
    /// - Throws: ``DownloadFailure`` with ``DownloadFailure/Reason/unsupported(_:)`` where the system has no such
    ///   service, with a `TransportError` in it for trust settings that URLSession does not have, and with one of the
    ///   kind `TransportError.Kind.invalidRequest` when the identifier is empty, or belongs to another object that
    ///   lives or whose downloads have not ended.
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
        /// Attaches to the downloads of a configuration's identifier, those of an earlier run included.
        ///
        /// For what the system lets an app choose: an app's extension needs a `sharedContainerIdentifier`, or else the
        /// system ends the session at once; `isDiscretionary` leaves the time to the system.
        ///
        /// - Parameters:
        ///   - configuration: Made with `background(withIdentifier:)`. Cookies, credentials and the system's cache are
        ///     turned off in it, whatever it says, and the versions of TLS are those of `tls`.
        ///   - tls: Whom the downloads trust; the system's trust unless given. With pins http is refused.
        ///   - completion: Told how each download ended, those of an earlier run included.
        /// - Throws: As ``init(identifier:tls:completion:)``; a configuration that is none for the background has no
        ///   identifier.
        public init(
            _ configuration: URLSessionConfiguration,
            tls: TLSConfiguration = TLSConfiguration(),
            completion: @escaping Completion
        ) throws(DownloadFailure) {
            session = try BackgroundSession(configuration, tls: tls, completion: completion)
        }

        deinit {
            // A session keeps its delegate, and its identifier to itself, until it is told to end.
            session.close()
        }
    #endif

    /// Starts a download.
    ///
    /// - Parameters:
    ///   - request: The request, complete; only its URL, method, header fields and permissions for networks play a part.
    ///   - file: Where the file goes; one that stands there is replaced, missing directories are created.
    /// - Returns: The download.
    /// - Throws: ``DownloadFailure`` when the request cannot be sent.
    @discardableResult
    public func start(_ request: HTTPRequest, to file: URL) throws(DownloadFailure) -> Download {
        #if canImport(Darwin)
            return try session.start(request, to: file)
        #else
            throw .background(.unsupported("downloads in the background need an Apple system"))
        #endif
    }

    /// The downloads under way, those of an earlier run included.
    public func active() async -> [Download] {
        #if canImport(Darwin)
            return await session.active()
        #else
            return []
        #endif
    }

    /// Cancels a download; one that has ended is left alone.
    public func cancel(_ download: Download) {
        #if canImport(Darwin)
            session.cancel(download)
        #endif
    }

    /// Takes the completion handler that the system hands the app when it wakes it for this session's events; it is called
    /// when all have been told, at once when they are.
    ///
    /// On the main actor, since UIKit's handler is not `@Sendable`: it comes in a function of the app's delegate, which
    /// is isolated there, and cannot be sent anywhere else. The handler is called there too, as UIKit wants it (Apple,
    /// `urlSessionDidFinishEvents(forBackgroundURLSession:)`).
    @MainActor public func whenEventsAreFinished(_ handler: @escaping () -> Void) {
        #if canImport(Darwin)
            session.whenEventsAreFinished(handler)
        #endif
    }
}

extension DownloadFailure {
    /// A failure outside of any client.
    static func background(_ reason: Reason) -> DownloadFailure {
        let context = RequestContext(service: "background", environment: .release, method: .get)
        return DownloadFailure(reason, id: RequestID(), context: context)
    }
}
