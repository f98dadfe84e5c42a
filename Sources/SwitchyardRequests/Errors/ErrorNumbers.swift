public import SwitchyardAPI

extension APIError {
    /// The number that YTKNetwork gives to an error of response validation, or `nil` for every other error.
    ///
    /// The number is -8 for a rejected status, -9 for a JSON body that does not have the required
    /// ``/SwitchyardRequests/JSONShape``, and -1 to -7 for an unusable stored response.
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
    /// A way of numbering errors, for apps that were written for another library and compare error numbers in their
    /// code.
    public enum Numbering: Sendable, Hashable {
        /// The numbers of this library, 101 to 106.
        case standard
        /// The numbers of TSwift: 101 default, 102 timeout, 103 cancelled, 104 no network, 105 no data, 106 no more
        /// data.
        case tSwift
        /// The numbers of RTNetworking: 0 default, 2 no content, 3 wrong parameters, 4 timeout, 5 no network.
        /// RTNetworking's number 1 means success and is never returned.
        case rtNetworking
    }

    /// Returns the number of the error in a numbering.
    ///
    /// The error numbers that the app defines (1001 and above) are the same in all numberings.
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
