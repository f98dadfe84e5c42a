#if canImport(Darwin)
    import Foundation
    import SwitchyardHTTP

    extension TransferMetrics {
        /// Creates metrics from the last transaction that `URLSession` has measured.
        init(_ metrics: URLSessionTaskMetrics) {
            self.init(total: .seconds(metrics.taskInterval.duration))
            guard let transaction = metrics.transactionMetrics.last else { return }
            let start = metrics.taskInterval.start
            func elapsed(_ date: Date?) -> Duration? { date.map { .seconds($0.timeIntervalSince(start)) } }
            nameLookup = elapsed(transaction.domainLookupEndDate)
            connected = elapsed(transaction.secureConnectionStartDate ?? transaction.connectEndDate)
            secured = elapsed(transaction.secureConnectionEndDate)
            firstByte = elapsed(transaction.responseStartDate)
            bytesSent = transaction.countOfRequestBodyBytesSent
            bytesReceived = transaction.countOfResponseBodyBytesReceived
            reusedConnection = transaction.isReusedConnection
            networkProtocol = transaction.networkProtocolName
        }
    }
#endif
