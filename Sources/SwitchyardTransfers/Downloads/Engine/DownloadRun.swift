import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// One download under way: asks, writes, goes on where it was cut, and puts the file in its place.
///
/// It belongs to one task. What an answer means is decided by ``DownloadAnswer``, what the bytes amount to by
/// ``DownloadState``; here it is carried out.
struct DownloadRun {
    /// How often everything may be thrown away before the server is not believed any more.
    private static let maximumRestarts = 2

    let transfer: Transfer
    let configuration: DownloadConfiguration
    let place: PartialPlace
    let placement: FilePlacement
    let report: TransferProgressHandler

    let file: PartialFile
    var state = DownloadState()
    var context: RequestContext
    /// Whether parts are not asked for any more: the server gives none, or one of them was of another content.
    var usesOneConnection = false
    private var reported: Int64 = -1
    /// Whether the bytes were reported together with their number in all, so that the end has nothing to add.
    private var hasReportedAll = false

    init(
        _ transfer: Transfer,
        _ configuration: DownloadConfiguration,
        report: @escaping TransferProgressHandler
    ) throws(DownloadFailure) {
        self.transfer = transfer
        // One key over all requests of the download.
        var configuration = configuration
        configuration.request = configuration.request.snapshot()
        self.configuration = configuration
        self.report = report
        context = transfer.context(of: configuration.request)
        state.digest = configuration.digest.map { RunningDigest($0.algorithm) }
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

    /// Carries the download out.
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

    // MARK: - Asking

    /// Takes over what an earlier download has left.
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
            switch DownloadAnswer(status: response.status, headers: response.headers, to: question) {
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

    private mutating func open(_ question: DownloadAnswer.Question) async throws(DownloadFailure) -> ServiceResponse {
        var request = request
        if let offset = question.offset, let validator = question.validator {
            request.setField("Range", "bytes=\(offset)-")
            request.setField("If-Range", validator.text)
        }
        while true {
            do throws(RequestFailure) {
                let response = try await transfer.open(request, avoiding: avoided)
                take(note: response.context)
                state.breaks.charge(in: transfer, witness: response)
                return response
            } catch {
                take(note: error.context)
                guard outlastsOutage, let outage = ServerOutage(error) else { throw failure(.request(error.reason)) }
                try await outlast(outage)
            }
        }
    }

    /// The request as it is sent, but for the range.
    var request: APIConfiguration {
        var request = configuration.request
        request.cacheLifetime = nil
        request.responseBodyLimit = .max
        request.idleTimeout = request.idleTimeout ?? transfer.pool.generator.timeouts.idle ?? .seconds(60)
        // Bytes that were decompressed on the way could not be counted off on the server.
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

    // MARK: - Beginning

    private mutating func begin(_ response: ServiceResponse) throws(DownloadFailure) {
        if state.offset > 0 {
            configuration.onEvent?(.restarted("the server sent the whole content"))
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

    // MARK: - Telling

    /// Reports how far the download has come; never less than before, also when it starts over.
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

    /// Does something to the file.
    func disk(_ body: (PartialFile) throws(FileFailure) -> Void) throws(DownloadFailure) {
        do throws(FileFailure) { try body(file) } catch { throw failure(.file(error)) }
    }
}

extension DownloadRun {
    /// So many bytes are read from the file and hashed between two looks at whether the download goes on.
    private static let hashedAtOnce: Int64 = 16 << 20
    /// How often a content of several answers may be another than the one expected.
    private static let maximumMixtures = 2

    /// Takes the bytes of an earlier download into the digest; those that cannot be read are loaded anew.
    mutating func hashKeptBytes() async throws(DownloadFailure) {
        do throws(DownloadFailure) { try await catchUpWithDigest() } catch {
            guard case .file(let problem) = error.reason else { throw error }
            try startOver("\(problem)")
        }
    }

    /// Takes into the digest what is in the file and came without it: kept bytes, and parts that came side by side.
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

    /// Whether the whole content has the digest that it must have; `false` when it is to be loaded anew.
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
        configuration.onEvent?(.restarted("the content's hash is \(actual)"))
        state.startOver()
        try disk { (file) throws(FileFailure) in try file.truncate(to: 0) }
        return false
    }

    /// Takes note of who sent a content that is not the one expected, or none when others had to be asked; `false` when
    /// nobody else is left.
    mutating func leave(_ server: Server.ID?) -> Bool {
        guard let server, configuration.request.leavesChoice, !state.strangers.contains(server) else { return false }
        state.strangers.append(server)
        return transfer.pool.hasOthers(than: state.strangers)
    }

    /// A content of several answers, of which nobody knows who is to blame, is loaded anew as one.
    private mutating func mayMixAgain() -> Bool {
        usesOneConnection = true
        state.mixtures += 1
        return state.mixtures <= Self.maximumMixtures
    }
}
