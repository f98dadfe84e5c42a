import Testing

@testable import SwitchyardServices

@Suite struct CopyOnWriteTests {
    @Test func `changing a copy of a copy-on-write value leaves the original unchanged`() {
        let first = CopyOnWrite([1, 2])
        var second = first

        second.value.append(3)

        #expect(first.value == [1, 2])
        #expect(second.value == [1, 2, 3])
    }

    @Test func `copies of a copy-on-write value share one storage until one copy changes`() {
        let first = CopyOnWrite("a text")
        var second = first
        #expect(first.storage === second.storage)

        second.value = "another"

        #expect(first.storage !== second.storage)
    }

    @Test func `a copy-on-write value without copies is changed in place`() {
        var alone = CopyOnWrite(0)
        let before = ObjectIdentifier(alone.storage)

        for number in 1...3 { alone.value = number }

        #expect(ObjectIdentifier(alone.storage) == before)
        #expect(alone.value == 3)
    }
}
