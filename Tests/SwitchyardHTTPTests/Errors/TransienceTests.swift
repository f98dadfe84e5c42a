import SwitchyardHTTP
import Testing

@Suite struct TransienceTests {
    @Test(arguments: [
        (100...399, Transience.permanent), (400...407, .permanent), (408...408, .transient), (409...424, .permanent),
        (425...425, .transient), (426...428, .permanent), (429...429, .transient), (430...499, .permanent),
        (500...500, .transient), (501...501, .permanent), (502...504, .transient), (505...506, .permanent),
        (507...507, .transient), (508...508, .permanent), (509...509, .transient), (510...510, .permanent),
        (511...599, .transient), (600...999, .transient),
    ])
    func `each HTTP status is classified as transient or permanent`(statuses: ClosedRange<Int>, expected: Transience) {
        for status in statuses {
            #expect(Transience(status: status) == expected, "\(status)")
            #expect(Transience.statuses.contains(status) == (expected == .transient), "\(status)")
        }
    }

    @Test func `each kind of transport error is classified as transient, indeterminate or permanent`() {
        let table: [Transience: Set<TransportError.Kind>] = [
            .transient: [
                .dnsFailure, .connectionRefused, .connectTimeout, .timeout, .connectionReset, .truncated,
                .protocolViolation, .tlsFailure, .proxyFailure, .offline, .resourcesExhausted,
            ],
            .indeterminate: [.certificateRejected, .headersTooLarge, .decodingFailed, .other],
            .permanent: [.cancelled, .bodyTooLarge, .requestBodyFailed, .invalidRequest, .unsupported, .closed],
        ]
        #expect(Dictionary(grouping: TransportError.Kind.allCases) { Transience($0) }.mapValues { Set($0) } == table)
        #expect(Transience.kinds == table[.transient])
    }
}
