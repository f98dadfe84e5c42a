import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import SwitchyardTransport
import Testing

/// Downloads that resume after a break.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct ResumeTests {
    private let bytes = DownloadLab.bytes(700_000)

    private var content: LoopbackContent { LoopbackContent(bytes, entityTag: "\"v1\"") }

    @Test(arguments: [1, 65_536, 123_457, 699_999])
    func `a download resumes where the network broke it`(cut: Int) async throws {
        let lab = try DownloadLab()
        lab.serve(content)
        lab.server.fault = .truncate(after: cut)

        let failure = try await lab.failure(of: lab.download())
        lab.server.fault = nil
        let events = Recorder<DownloadEvent>()
        let file = try await lab.client.download(lab.download { $0.onEvent = { events.record($0) } })

        #expect(failure.transportKind == .truncated)
        #expect(failure.keptBytes == Int64(cut))
        #expect(try lab.content == bytes)
        #expect(lab.ranges == [nil, "bytes=\(cut)-"])
        #expect(lab.server.requests.last?.headers["If-Range"] == "\"v1\"")
        #expect(file.resumedBytes == Int64(cut))
        #expect(file.receivedBytes == Int64(700_000 - cut))
        #expect(events.values.first == .resumed(at: Int64(cut), total: 700_000))
        #expect(try lab.files == ["film.mov"])
    }

    @Test func `no byte of a download is transferred twice if the connection breaks many times`() async throws {
        let lab = try DownloadLab()
        lab.serve(content)
        lab.server.fault = .truncate(after: 90_001)
        var kept: Int64 = 0
        for _ in 0..<7 {
            let failure = try await lab.failure(of: lab.download())
            #expect(failure.keptBytes - kept == 90_001)
            kept = failure.keptBytes
        }
        lab.server.fault = nil

        let file = try await lab.client.download(lab.download())

        #expect(file.receivedBytes == 700_000 - 7 * 90_001)
        #expect(try lab.content == bytes)
    }

    @Test func `a cancelled download resumes where it stopped`() async throws {
        let lab = try DownloadLab()
        lab.serve(content)
        lab.server.fault = .drip(bytes: 20_000, every: .milliseconds(5))
        let id = RequestID()

        let failure = await withTaskGroup(of: DownloadFailure?.self) { group in
            group.addTask {
                do throws(DownloadFailure) {
                    _ = try await lab.client.download(lab.download(), id: id) { report in
                        if report.completed > 100_000 { lab.client.cancel(id) }
                    }
                    return nil
                } catch {
                    return error
                }
            }
            return await group.next() ?? nil
        }
        lab.server.fault = nil
        let file = try await lab.client.download(lab.download())

        #expect(failure?.isCancellation == true)
        #expect(try #require(failure).keptBytes > 100_000)
        #expect(file.resumedBytes == failure?.keptBytes)
        #expect(try lab.content == bytes)
        #expect(lab.client.activeRequests.isEmpty)
    }

    @Test func `resume data continues a download at another destination`() async throws {
        let lab = try DownloadLab()
        lab.serve(content)
        lab.server.fault = .truncate(after: 300_000)
        let partials = lab.folder.appendingPathComponent("partials")
        let first = lab.download {
            $0.destination = .temporary
            $0.partialDirectory = partials
            $0.createsDirectories = true
        }
        let failure = try await lab.failure(of: first)
        lab.server.fault = nil

        let second = lab.download { $0.resumeData = failure.resumeData }
        let file = try await lab.client.download(second)

        #expect(file.resumedBytes == 300_000)
        #expect(try lab.content == bytes)
        #expect(try FileManager.default.contentsOfDirectory(atPath: partials.path).isEmpty)
    }

    @Test func `a download with damaged or outdated resume data starts again`() async throws {
        let lab = try DownloadLab()
        lab.serve(content)
        let gone = Data(#"{"version":1,"file":"/nowhere/.switchyard-1.part"}"#.utf8)
        let foreign = Data(#"{"version":1,"file":"/etc/passwd"}"#.utf8)

        for data in [Data("nonsense".utf8), Data(), gone, foreign] {
            let file = try await lab.client.download(
                lab.download {
                    $0.resumeData = data
                    $0.existingFile = .replace
                }
            )
            #expect(file.receivedBytes == 700_000)
        }
        #expect(try lab.content == bytes)
    }

    @Test func `a download with a damaged record starts again`() async throws {
        for damage in ["", "{", #"{"version":2}"#, #"{"version":1,"source":"x"}"#] {
            let lab = try await DownloadLab.cut(content)
            let record = try #require(try lab.files.first { $0.hasSuffix(".json") })
            try Data(damage.utf8).write(to: lab.folder.appendingPathComponent(record))

            let file = try await lab.client.download(lab.download())

            #expect(file.receivedBytes == 700_000, "\(damage)")
            #expect(try lab.content == bytes)
            #expect(try lab.files == ["film.mov"])
        }
    }

    @Test func `a download does not use the partial file of another URL`() async throws {
        let lab = try await DownloadLab.cut(content)
        let other = DownloadLab.bytes(500_000, seed: 99)
        lab.server.route(.get, "/other") { LoopbackContent(other, entityTag: "\"v1\"").response(to: $0) }

        let file = try await lab.client.download(lab.download { $0.request.path = "other" })

        #expect(file.receivedBytes == 500_000)
        #expect(try lab.content == other)
        #expect(try lab.files == ["film.mov"])
    }

    @Test func `downloads with the same content name share a partial file even if their URLs differ in a signature`()
        async throws
    {
        let lab = try DownloadLab()
        lab.serve(content)
        lab.server.fault = .truncate(after: 300_000)
        _ = try await lab.failure(
            of: lab.download {
                $0.contentName = "film 7"
                $0.request.query = ["signature": "a"]
            }
        )
        lab.server.fault = nil

        let file = try await lab.client.download(
            lab.download {
                $0.contentName = "film 7"
                $0.request.query = ["signature": "b"]
            }
        )

        #expect(file.resumedBytes == 300_000)
    }

    @Test func `a download whose content has changed starts again`() async throws {
        let lab = try await DownloadLab.cut(content)
        let changed = DownloadLab.bytes(600_000, seed: 5)
        lab.serve(LoopbackContent(changed, entityTag: "\"v2\""))

        let file = try await lab.client.download(lab.download())

        #expect(lab.ranges == [nil, "bytes=300000-"])
        #expect(file.receivedBytes == 600_000)
        #expect(try lab.content == changed)
    }

    @Test func `a complete partial file becomes the downloaded file without loading another byte`() async throws {
        let lab = try await DownloadLab.cut(content)
        let partial = try #require(try lab.files.first { $0.hasSuffix(".part") })
        try bytes.write(to: lab.folder.appendingPathComponent(partial))

        let file = try await lab.client.download(lab.download())

        #expect(file.receivedBytes == 0)
        #expect(file.answer.status == 416)
        #expect(try lab.content == bytes)
    }

    @Test func `a download whose partial file is longer than the content starts again`() async throws {
        let lab = try await DownloadLab.cut(content)
        let partial = try #require(try lab.files.first { $0.hasSuffix(".part") })
        try Data(count: 700_001).write(to: lab.folder.appendingPathComponent(partial))

        let file = try await lab.client.download(lab.download())

        #expect(file.receivedBytes == 700_000)
        #expect(try lab.content == bytes)
    }

    @Test(arguments: ["W/\"v1\"", nil])
    func `a download without a strong validator is not resumed`(tag: String?) async throws {
        let lab = try DownloadLab()
        lab.serve(LoopbackContent(bytes, entityTag: tag))
        lab.server.fault = .truncate(after: 300_000)
        let failure = try await lab.failure(of: lab.download())
        lab.server.fault = nil

        let file = try await lab.client.download(lab.download())

        #expect(failure.keptBytes == 0)
        #expect(failure.resumeData == nil)
        #expect(file.receivedBytes == 700_000)
        #expect(try lab.files == ["film.mov"])
    }

    @Test func `a download resumes with Last-Modified as its validator`() async throws {
        let lab = try DownloadLab()
        lab.serve(LoopbackContent(bytes, lastModified: "Wed, 21 Oct 2015 07:28:00 GMT"))
        lab.server.fault = .truncate(after: 300_000)
        _ = try await lab.failure(of: lab.download())
        lab.server.fault = nil

        let file = try await lab.client.download(lab.download())

        #expect(lab.server.requests.last?.headers["If-Range"] == "Wed, 21 Oct 2015 07:28:00 GMT")
        #expect(file.resumedBytes == 300_000)
        #expect(try lab.content == bytes)
    }

    // RFC 9110 sections 6.6.1 and 8.8.2.2
    @Test func `Last-Modified is not used if the content may have changed in the same second`() async throws {
        let lab = try DownloadLab()
        let date = try #require(HTTPDate.text(for: Date()))
        lab.serve(LoopbackContent(bytes, lastModified: date))
        lab.server.fault = .truncate(after: 300_000)
        let failure = try await lab.failure(of: lab.download())
        lab.server.fault = nil
        let other = DownloadLab.bytes(bytes.count, seed: 1)
        lab.serve(LoopbackContent(other, lastModified: date))

        _ = try await lab.client.download(lab.download())

        #expect(failure.keptBytes == 0)
        #expect(try lab.content == other)
    }

    @Test func `a POST leaves no partial file, and neither does a server without ranges`() async throws {
        let write = try DownloadLab()
        let content = content
        write.server.route(.post, "/film") { content.response(to: $0) }
        write.server.fault = .truncate(after: 300_000)
        let plain = try DownloadLab()
        var withoutRanges = content
        withoutRanges.acceptsRanges = false
        plain.serve(withoutRanges)
        plain.server.fault = .truncate(after: 300_000)

        let first = try await write.failure(of: write.download { $0.request.method = .post })
        let second = try await plain.failure(of: plain.download())

        #expect(first.keptBytes == 0 && second.keptBytes == 0)
        #expect(try write.files.isEmpty)
        #expect(try plain.files.isEmpty)
    }

    // Old server versions send the same entity tag with a compressed response.
    @Test func `a compressed part is not appended to uncompressed bytes`() async throws {
        let lab = try await DownloadLab.cut(content)
        let content = content
        lab.server.route(.get, "/film") { request in
            var response = content.response(to: request)
            if response.status == 206 { response.headers.set("Content-Encoding", "gzip") }
            return response
        }

        let file = try await lab.client.download(lab.download())

        #expect(lab.ranges == [nil, "bytes=300000-", nil])
        #expect(file.resumedBytes == 0)
        #expect(try lab.content == bytes)
    }

    @Test func `a download whose record has no partial file starts again`() async throws {
        let lab = try await DownloadLab.cut(content)
        let partial = try #require(try lab.files.first { $0.hasSuffix(".part") })
        try FileManager.default.removeItem(at: lab.folder.appendingPathComponent(partial))

        let file = try await lab.client.download(lab.download())

        #expect(lab.ranges == [nil, nil])
        #expect(file.receivedBytes == 700_000)
        #expect(try lab.content == bytes)
        #expect(try lab.files == ["film.mov"])
    }

    @Test func `a download of a prebuiltRequest resumes like any other download`() async throws {
        let lab = try DownloadLab()
        lab.serve(content)
        let url = try RequestURL(validating: "\(lab.server.baseURL)/film")
        let download = lab.download { $0.request.prebuiltRequest = HTTPRequest(url: url, headers: ["X-Own": "1"]) }
        lab.server.fault = .truncate(after: 300_000)

        let failure = try await lab.failure(of: download)
        lab.server.fault = nil
        let file = try await lab.client.download(download)

        #expect(failure.keptBytes == 300_000)
        #expect(file.resumedBytes == 300_000)
        #expect(lab.ranges == [nil, "bytes=300000-"])
        #expect(lab.server.requests.allSatisfy { $0.headers["Accept-Encoding"] == "identity" })
        #expect(lab.server.requests.allSatisfy { $0.headers["X-Own"] == "1" })
        #expect(try lab.content == bytes)
    }

    @Test func `a download whose prebuiltRequest is a POST is not resumed`() async throws {
        let lab = try DownloadLab()
        let content = content
        lab.server.route(.post, "/film") { content.response(to: $0) }
        let url = try RequestURL(validating: "\(lab.server.baseURL)/film")
        lab.server.fault = .truncate(after: 300_000)

        let failure = try await lab.failure(
            of: lab.download {
                $0.request.prebuiltRequest = HTTPRequest(method: .post, url: url)
                $0.maximumContinuations = 2
            }
        )

        #expect(failure.keptBytes == 0)
        #expect(lab.server.requests.count == 1)
    }

    @Test func `an interrupted download that is not resumable leaves no file`() async throws {
        let lab = try DownloadLab()
        lab.serve(content)
        lab.server.fault = .truncate(after: 300_000)

        let failure = try await lab.failure(of: lab.download { $0.isResumable = false })

        #expect(failure.keptBytes == 0)
        #expect(try lab.files.isEmpty)
    }

    @Test func `a partial download can be discarded`() async throws {
        let lab = try await DownloadLab.cut(content)
        #expect(try lab.files.count == 2)

        lab.client.discardPartialDownload(lab.download())

        #expect(try lab.files.isEmpty)
    }

    @Test func `a server without ranges sends the whole content again`() async throws {
        let lab = try await DownloadLab.cut(content)
        var plain = content
        plain.acceptsRanges = false
        lab.serve(plain)
        let events = Recorder<DownloadEvent>()

        let file = try await lab.client.download(lab.download { $0.onEvent = { events.record($0) } })

        #expect(file.receivedBytes == 700_000)
        #expect(file.resumedBytes == 0)
        #expect(try lab.content == bytes)
        guard case .restarted = events.values.first else {
            Issue.record("expected a restart event")
            return
        }
    }
}
