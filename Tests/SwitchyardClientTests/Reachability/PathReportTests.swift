import Testing

@testable import SwitchyardClient

/// What a path of an Apple system says of the network: row O2.
@Suite struct PathReportTests {
    @Test func `no path means that there is no way`() {
        #expect(PathReport(isUnsatisfied: true).status(isProof: true) == .notReachable)
    }

    // TN3135: ordinary apps of watchOS are told so always.
    @Test func `no path means nothing on watchOS`() {
        let status = PathReport(isUnsatisfied: true, isLocal: true).status(isProof: false)

        #expect(status == .unknown)
        #expect(status.isReachable)
    }

    @Test(arguments: [true, false]) func `a path is a way of its kind`(isProof: Bool) {
        #expect(PathReport(isCellular: true).status(isProof: isProof) == .reachable(.cellular))
        #expect(PathReport(isLocal: true).status(isProof: isProof) == .reachable(.local))
        #expect(PathReport().status(isProof: isProof) == .reachable(.other))
    }

    @Test func `a path that may take both costs what cellular does`() {
        #expect(PathReport(isCellular: true, isLocal: true).status(isProof: true) == .reachable(.cellular))
    }
}
