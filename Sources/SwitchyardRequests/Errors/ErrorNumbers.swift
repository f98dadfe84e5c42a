public import SwitchyardAPI

extension APIError {
    /// The number that YTKNetwork gives to a refusal: -8 for a status, -9 for a JSON shape, -1 to -7 for a stored
    /// response.
    ///
    /// It is `nil` for every other error.
    public var validationNumber: Int? {
        switch reason {
        case .status: -8
        case .body(.shape): -9
        case .cache(let reason): reason.rawValue
        default: nil
        }
    }
}

extension APIError {
    /// A way of numbering errors, for apps that come from another library and have its numbers in their code.
    public enum Numbering: Sendable, Hashable {
        /// The library's own: 101 to 106.
        case standard
        /// TSwift's: 101 default, 102 timeout, 103 cancelled, 104 no network, 105 no data, 106 no more data.
        case tSwift
        /// RTNetworking's: 0 default, 2 no content, 3 wrong parameters, 4 timeout, 5 no network; 1 is success.
        case rtNetworking
    }

    /// The number of the error in a numbering; a module's own numbers are the same in all.
    public func number(in numbering: Numbering) -> Int {
        switch numbering {
        case .standard: code.number
        case .tSwift: tSwiftNumber
        case .rtNetworking: rtNumber
        }
    }

    private var tSwiftNumber: Int {
        switch code {
        case .failed: 101
        case .timeout: 102
        case .notConnected: 104
        default: code.number
        }
    }

    private var rtNumber: Int {
        switch (code, reason) {
        case (.module(let number), _): number
        case (.timeout, _): 4
        case (.notConnected, _): 5
        case (_, .configuration): 3
        case (_, .body), (.noData, _), (.noMoreData, _): 2
        default: 0
        }
    }
}
