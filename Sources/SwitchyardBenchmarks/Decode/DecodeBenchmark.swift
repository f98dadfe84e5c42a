import Foundation
import Switchyard

/// A benchmark of the cost of validating and decoding a response, compared with `JSONDecoder` alone.
struct DecodeBenchmark {
    let isJSON: Bool
    /// Whether a response of 200 MB is decoded too.
    let isLarge: Bool

    private struct Topic: Codable, Sendable {
        var id: Int
        var title: String
        var replies: Int
        var author: String
    }

    private struct Dated: Codable, Sendable {
        var id: Int
        var created: Date
    }

    func run() async throws {
        var sheet = FigureSheet(isJSON: isJSON)
        let topics = (0..<20).map { Topic(id: $0, title: "Points and crossings \($0)", replies: $0 * 7, author: "Ada") }
        try await sheet.add("20 topics", race([Topic].self, try JSONEncoder().encode(topics)))
        try sheet.addRatio(to: "20 topics", "ResponseSerializer", over: "JSONDecoder")
        try await sheet.add("20 topics with dates", dates())
        if isLarge { try large(&sheet) }
        try sheet.finish()
    }

    private func race<Value: Decodable & Sendable>(_ type: Value.Type, _ data: Data) -> Race {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let plain = UncheckedDecoder(decoder)
        let serializer = ResponseSerializer.decodable(type)
        let response = RawResponse(headers: ["Content-Type": "application/json"], data: data)
        return Race(
            runners: [
                Race.Runner("JSONDecoder") { times in
                    for _ in 0..<times { _ = try plain.decoder.decode(type, from: data) }
                },
                Race.Runner("ResponseSerializer") { times in
                    for _ in 0..<times { _ = try serializer.value(of: response) }
                },
            ],
            times: 4_000,
            rounds: 15
        )
    }

    private func dates() throws -> Race {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let data = try encoder.encode((0..<20).map { Dated(id: $0, created: Date(timeIntervalSince1970: Double($0))) })
        var race = race([Dated].self, data)
        let style = JSONDecoder()
        style.dateDecodingStrategy = .custom { decoder in
            try Date.ISO8601FormatStyle().parse(try decoder.singleValueContainer().decode(String.self))
        }
        let formatted = JSONDecoder()
        formatted.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            return ISO8601DateFormatter().date(from: text) ?? .distantPast
        }
        for (name, decoder) in [
            ("JSONDecoder, ISO8601FormatStyle", style), ("JSONDecoder, ISO8601DateFormatter", formatted),
        ] {
            let plain = UncheckedDecoder(decoder)
            race.runners.append(
                Race.Runner(name) { times in
                    for _ in 0..<times { _ = try plain.decoder.decode([Dated].self, from: data) }
                }
            )
        }
        race.times = 500
        race.rounds = 7
        return race
    }

    /// Measures 200 MB of JSON: how long decoding takes, how long it takes to reject the text without its last byte,
    /// and the peak memory.
    private func large(_ sheet: inout FigureSheet) throws {
        var data = Data("[".utf8)
        data.reserveCapacity(200_000_100)
        let number = Data("1234567,".utf8)
        while data.count < 200_000_000 { data.append(number) }
        data.append(Data("0]".utf8))
        let response = RawResponse(headers: ["Content-Type": "application/json"], data: data)
        let before = peakMegabytes()
        let start = ContinuousClock.now
        let numbers = try ResponseSerializer.decodable([Int].self).value(of: response)
        sheet.add("200 MB of JSON", "decoded", (ContinuousClock.now - start) / .seconds(1), "s")
        sheet.add("200 MB of JSON", "numbers", Double(numbers.count), "")
        sheet.add("200 MB of JSON", "peak memory in addition to the body", peakMegabytes() - before, "MB")
        let cut = RawResponse(headers: response.headers, data: data.dropLast())
        let refused = ContinuousClock.now
        if (try? ResponseSerializer.decodable([Int].self).value(of: cut)) != nil {
            throw BenchmarkError("truncated JSON was accepted")
        }
        sheet.add("200 MB of JSON", "truncated JSON rejected", (ContinuousClock.now - refused) / .seconds(1), "s")
    }
}

/// A decoder that is configured once and then used by one runner of the benchmark at a time.
private final class UncheckedDecoder: @unchecked Sendable {
    // @unchecked is sound: the decoder is not changed after this initializer, and decoding creates its own state.
    let decoder: JSONDecoder

    init(_ decoder: JSONDecoder) {
        self.decoder = decoder
    }
}

extension FigureSheet {
    /// Adds a row with the difference between two rows: how much longer the work of the first row takes, in percent.
    mutating func addRatio(to title: String, _ name: String, over other: String) throws {
        guard let row = rows.last(where: { $0.title == title && $0.name == name }),
            let base = rows.last(where: { $0.title == title && $0.name == other })
        else { throw BenchmarkError("no results for \(title)") }
        add(title, "\(name) over \(other)", 100 * (row.value.minimum / base.value.minimum - 1), "%")
    }
}

/// Returns the peak memory of this process since its start, in megabytes.
func peakMegabytes() -> Double {
    #if os(Linux)
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? .nan) / 1_000
    #else
        var usage = rusage()
        getrusage(RUSAGE_SELF, &usage)
        return Double(usage.ru_maxrss) / 1e6
    #endif
}
