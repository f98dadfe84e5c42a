import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// An active download.
///
/// It sends the requests, writes the bytes, continues after interruptions, and moves the file to its destination.
///
/// The value is used by one task only. ``DownloadResponse`` decides what a response means, and ``DownloadState`` tracks
/// the bytes.
struct DownloadRun {
    /// The maximum number of restarts within one call.
    ///
    /// After more restarts, the server is considered unreliable.
    private static let maximumRestarts = 2

    let transfer: Transfer
    let configuration: DownloadConfiguration
    let place: PartialPlace
    let placement: FilePlacement
    let report: TransferProgressHandler

    let file: PartialFile
    var state = DownloadState()
    var context: RequestContext
    /// Whether the download uses only one connection from now on, because the server sent no parts or because the parts
    /// did not form the expected content.
    var usesOneConnection = false
    private var reported: Int64 = -1
    /// Whether the progress handler has received the complete length, so that the end of the download needs no further
    /// report.
    private var hasReportedAll = false

    init(
        _ transfer: Transfer,
        _ configuration: DownloadConfiguration,
        report: @escaping TransferProgressHandler
    ) throws(DownloadFailure) {
        self.transfer = transfer
        // The snapshot fixes the idempotency key, so that all requests of the download send the same key.
        var configuration = configuration
        configuration.request = configuration.request.snapshot()
        self.configuration = configuration
        self.report = report
        context = transfer.context(of: configuration.request)
        state.digest = configuration.digest.map { RunningDigest($0.algorithm.core) }
        placement = FilePlacement(
            rule: configuration.existingFile,
            createsDirectories: configuration.createsDirectories
        )
        let environment = transfer.pool.environment.rawValue
        let source = TransferSubject(configuration, service: transfer.pool.service, environment: environment)
        place = PartialPlace(configuration, source: source, of: transfer.marks(of: configuration.request))
        do throws(FileFailure) {
            if case .file(let target) = configuration.destination { try placement.check(target) }
            try placement.prepare(place.file.deletingLastPathComponent())
            file = try PartialFile(at: place.file)
        } catch {
            throw DownloadFailure(.file(error), id: transfer.id, context: context, asking: configuration.request)
        }
    }

    /// Runs the download to its end, and returns the file at its destination.
    mutating func run() async throws(DownloadFailure) -> DownloadedFile {
        do throws(DownloadFailure) {
            try adoptKeptBytes()
            try await hashKeptBytes()
            while true {
                let answer = try await receiveAll()
                if try await isExpected(answer) { return try await deliver(answer) }
            }
        } catch {
            throw await keeping(error)
        }
    }

    // MARK: - Requests

    /// Continues from the bytes in the partial file if the record of the file belongs to this content and this user.
    private mutating func adoptKeptBytes() throws(DownloadFailure) {
        if place.isKept, let record = ResumeRecord.read(from: place.record), record.source == place.source.digest,
            record.belongs(to: transfer.marks(of: configuration.request))
        {
            state.offset = record.usableBytes(of: file.length)
            state.record = record
            state.total = record.total
        }
        if state.offset == 0 { state.startOver() }
        state.resumed = state.offset
        state.checkpoint = state.offset
        try disk { (file) throws(FileFailure) in try file.truncate(to: state.offset) }
    }

    private mutating func receiveAll() async throws(DownloadFailure) -> ServiceResponse {
        while true {
            let question = state.question(hasOwnRange: configuration.request.ownHeaders["Range"] != nil)
            let response = try await open(question)
            switch DownloadResponse(status: response.status, headers: response.headers, to: question) {
            case .whole:
                try begin(response)
                if let isComplete = try await receiveInParts(response) {
                    if isComplete { return response }
                    continue
                }
            case .rest(let last, let total):
                try check(length: total ?? state.offset)
                goOn(last: last, total: total)
            case .complete:
                response.discardBody()
                state.isMixed = true
                try check(length: state.offset)
                return response
            case .startOver(let why):
                response.discardBody()
                try startOver(why)
                continue
            case .refused:
                if !state.strangers.isEmpty, leave(response.context.server) {
                    response.discardBody()
                    continue
                }
                guard outlastsOutage, let outage = ServerOutage(response) else { throw await refusal(response) }
                response.discardBody()
                try await outlast(outage)
                continue
            case .unusable(let why):
                response.discardBody()
                throw failure(.unusableRange(why))
            }
            if try await receive(response) { return response }
        }
    }

    private mutating func open(_ question: DownloadResponse.Question) async throws(DownloadFailure) -> ServiceResponse {
        var request = request
        if let offset = question.offset, let validator = question.validator {
            request.setField("Range", "bytes=\(offset)-")
            request.setField("If-Range", validator.text)
        }
        while true {
            do throws(RequestFailure) {
                let response = try await transfer.open(request, avoiding: avoided)
                take(note: response.context)
                state.breaks.charge(in: transfer, confirmedBy: response)
                return response
            } catch {
                take(note: error.context)
                guard outlastsOutage, let outage = ServerOutage(error) else { throw failure(.request(error.reason)) }
                try await outlast(outage)
            }
        }
    }

    /// The request that is sent, without the range fields.
    var request: APIConfiguration {
        var request = configuration.request
        request.cacheLifetime = nil
        request.responseBodyLimit = .max
        request.idleTimeout = request.idleTimeout ?? transfer.pool.generator.timeouts.idle ?? .seconds(60)
        // Compression is turned off because the offsets of decompressed bytes would not match the server's offsets.
        if request.ownHeaders["Accept-Encoding"] == nil { request.setField("Accept-Encoding", "identity") }
        return request
    }

    private mutating func take(note context: RequestContext) {
        state.attempts += context.attempts
        let mayHaveTakenEffect = self.context.mayHaveTakenEffect
        self.context = context
        if mayHaveTakenEffect { self.context.mayHaveBeenExecuted = true }
        self.context.attempts = state.attempts
        self.context.elapsed = transfer.startedAt.duration(to: transfer.core.now)
    }

    // MARK: - Start

    private mutating func begin(_ response: ServiceResponse) throws(DownloadFailure) {
        if state.offset > 0 {
            configuration.onEvent?(.restarted("the server sent the whole content instead of the missing part"))
        }
        state.startOver()
        try disk { (file) throws(FileFailure) in try file.truncate(to: 0) }
        let isPlain = response.headers.hasPlainContent
        state.total = isPlain ? response.headers.contentLength : nil
        try check(length: state.total ?? 0)
        if isPlain, response.status == 200, configuration.asksForWholeContent { makeRecord(response.headers) }
        try writeRecord()
        configuration.onEvent?(.began(total: state.total))
        progress()
    }

    private mutating func makeRecord(_ headers: HTTPHeaders) {
        guard headers["Accept-Ranges"]?.lowercased() != "none", let validator = ResumeValidator(headers) else {
            return
        }
        state.record = ResumeRecord(
            source: place.source.digest,
            path: place.source.path,
            validator: validator,
            total: state.total,
            name: headers.contentDisposition?.safeFileName,
            boot: BootSession.current,
            owners: transfer.marks(of: configuration.request)
        )
    }

    private mutating func goOn(last: Int64, total: Int64?) {
        state.lastOfRange = last
        state.total = total
        state.isMixed = true
        if state.received == 0 { configuration.onEvent?(.resumed(at: state.offset, total: total)) }
        progress()
    }

    mutating func startOver(_ why: String) throws(DownloadFailure) {
        state.restarts += 1
        guard state.restarts <= Self.maximumRestarts else { throw failure(.unusableRange(why)) }
        configuration.onEvent?(.restarted(why))
        state.startOver()
        try disk { (file) throws(FileFailure) in try file.truncate(to: 0) }
    }

    // MARK: - Progress

    /// Reports the progress of the download.
    ///
    /// The reported number never decreases, even if the download starts over.
    mutating func progress(isEnd: Bool = false) {
        guard state.offset > reported || (isEnd && !hasReportedAll) else { return }
        reported = max(reported, state.offset)
        let total = isEnd ? reported : state.total.map { max($0, reported) }
        hasReportedAll = total == reported
        let next = TransferProgress(direction: .download, completed: reported, total: total)
        configuration.monitor?.update(next, of: .download)
        report(next)
    }

    func failure(_ reason: DownloadFailure.Reason) -> DownloadFailure {
        DownloadFailure(reason, id: transfer.id, context: context, asking: configuration.request)
    }

    /// Performs an operation on the partial file, and converts its error to a `DownloadFailure`.
    func disk(_ body: (PartialFile) throws(FileFailure) -> Void) throws(DownloadFailure) {
        do throws(FileFailure) { try body(file) } catch { throw failure(.file(error)) }
    }
}

extension DownloadRun {
    /// The number of bytes that are read from the file and hashed between two checks for cancellation.
    private static let hashedAtOnce: Int64 = 16 << 20
    /// The maximum number of times that the download may start over because content from several responses had an
    /// unexpected digest.
    private static let maximumMixtures = 2

    /// Adds the bytes of an earlier download to the digest.
    ///
    /// If the bytes cannot be read, the download starts over.
    mutating func hashKeptBytes() async throws(DownloadFailure) {
        do throws(DownloadFailure) { try await catchUpWithDigest() } catch {
            guard case .file(let problem) = error.reason else { throw error }
            try startOver("\(problem)")
        }
    }

    /// Adds the bytes that are in the file but not yet in the digest: bytes of an earlier download, and parts that were
    /// downloaded in parallel.
    private mutating func catchUpWithDigest() async throws(DownloadFailure) {
        while let digest = state.digest, digest.count < state.offset {
            let end = min(state.offset, digest.count + Self.hashedAtOnce)
            do throws(FileFailure) {
                state.digest = try await BlockingWork.run { [file] () throws(FileFailure) in
                    var digest = digest
                    while digest.count < end {
                        let rest = Int(min(1 << 18, end - digest.count))
                        digest.update(try file.read(at: digest.count, maximumLength: rest))
                    }
                    return digest
                }
            } catch {
                throw failure(.file(error))
            }
            try checkRunning()
        }
    }

    /// Returns whether the whole content has the expected digest.
    ///
    /// If the result is `false`, the content must be downloaded again.
    mutating func isExpected(_ response: ServiceResponse) async throws(DownloadFailure) -> Bool {
        try await catchUpWithDigest()
        guard let expected = configuration.digest, let digest = state.digest else { return true }
        let actual = ContentDigest(digest)
        guard actual != expected else { return true }
        guard configuration.request.resendRule == .anytime,
            state.isMixed ? mayMixAgain() : leave(response.context.server)
        else {
            throw failure(.digestMismatch(expected: expected, actual: actual))
        }
        configuration.onEvent?(.restarted("the content has the wrong digest \(actual)"))
        state.startOver()
        try disk { (file) throws(FileFailure) in try file.truncate(to: 0) }
        return false
    }

    /// Records a server that sent content with an unexpected digest, or that rejected the request after another server
    /// had sent such content.
    ///
    /// Returns `false` if no other server is left.
    mutating func leave(_ server: Server.ID?) -> Bool {
        guard let server, configuration.request.leavesChoice, !state.strangers.contains(server) else { return false }
        state.strangers.append(server)
        return transfer.pool.hasOthers(than: state.strangers, for: configuration.request)
    }

    /// Returns whether the content may be downloaded again over one connection.
    ///
    /// This is the case for content that came from several responses, because it is unknown which response was wrong.
    private mutating func mayMixAgain() -> Bool {
        usesOneConnection = true
        state.mixtures += 1
        return state.mixtures <= Self.maximumMixtures
    }
}
