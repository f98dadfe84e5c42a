import Foundation
import SwitchyardClient
import SwitchyardServices

/// The most recent requests that a server has received, addressed by their numbers.
struct RequestLog {
    private let limits: LoopbackLimits
    private var records: [RecordedRequest] = []
    private var firstNumber = 1

    init(limits: LoopbackLimits) {
        self.limits = limits
    }

    /// The recorded requests, oldest first.
    var kept: [RecordedRequest] { records.suffix(limits.recordedRequests) }

    /// Adds a request, whose number must be one above the number of the previous request.
    mutating func append(_ record: RecordedRequest) {
        if records.isEmpty { firstNumber = record.number }
        records.append(record)
        // Up to twice the limit is kept before half of the array is removed, so the amortized cost of each request is
        // constant.
        let excess = records.count - limits.recordedRequests
        guard excess > limits.recordedRequests else { return }
        records.removeFirst(excess)
        firstNumber += excess
    }

    /// Changes a recorded request, or does nothing if the record was removed.
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
