import Foundation
import SwitchyardClient
import SwitchyardServices

/// The most recent requests that a server has received, by number.
struct RequestLog {
    private let limits: LoopbackLimits
    private var records: [RecordedRequest] = []
    private var firstNumber = 1

    init(limits: LoopbackLimits) {
        self.limits = limits
    }

    /// The recorded requests, oldest first.
    var kept: [RecordedRequest] { records.suffix(limits.recordedRequests) }

    /// Adds a request; its number must be one above the previous number.
    mutating func append(_ record: RecordedRequest) {
        if records.isEmpty { firstNumber = record.number }
        records.append(record)
        // Removing half of the array at a time makes the amortized cost of each request constant.
        let excess = records.count - limits.recordedRequests
        guard excess > limits.recordedRequests else { return }
        records.removeFirst(excess)
        firstNumber += excess
    }

    /// Changes a request that is still recorded.
    mutating func update(_ number: Int, _ change: (inout RecordedRequest) -> Void) {
        let index = number - firstNumber
        guard records.indices.contains(index) else { return }
        change(&records[index])
    }

    /// Adds body bytes to a recorded request, up to the limit.
    mutating func append(_ piece: Data, to number: Int) {
        let limit = limits.recordedBodyBytes
        update(number) { record in
            record.bodyCount += piece.count
            record.body.append(piece.prefix(limit - record.body.count))
        }
    }

    mutating func removeAll() {
        records = []
    }
}
